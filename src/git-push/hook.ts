/**
 * The pre-receive hook, and how it talks to the push it belongs to. git hands its open file descriptors down to its hooks, so
 * the hook needs no address, no password and no runtime that takes longer to start than the rest of a push:
 * descriptor 3 carries the quarantine and the updates up and one word of judgement down, descriptor 4 the lines to show.
 * When the platform dies both end, there is no judgement, and git refuses the push; where its code serves already, the next start
 * moves the reference (GitHost.finishPush).
 */
import type { Readable } from 'node:stream';
import type { RefUpdate } from '../domain/deploys/kept-push.ts';

export const PRE_RECEIVE = `#!/bin/sh
# Written by the platform at every start; a change made here does not last.
if [ "$TANCHO_PUSH" != 1 ]; then
  echo 'This repository takes pushes through the platform only.' >&2
  exit 1
fi
{ printf '%s\\n' "$GIT_QUARANTINE_PATH" && cat && echo; } >&3 || exit 1
cat <&4
read -r judgement <&3 || echo 'The platform stopped before it could say whether the new version serves; push again when it is back.'
[ "$judgement" = accepted ]
`;

export const ACCEPTED = 'accepted\n';
export const REFUSED = 'refused\n';

export interface HookRequest {
  readonly quarantine: string;
  readonly updates: readonly RefUpdate[];
}

const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const UPDATE = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/[^]+)$/;

/** What the hook says, or null when it ends without having said all, or never runs. */
export async function readHookRequest(requests: Readable): Promise<HookRequest | null> {
  const text = await untilEmptyLine(requests);
  if (text === null) return null;
  const [quarantine = '', ...lines] = text.split('\n');
  const updates = lines.map((line) => {
    const [, from, to, ref] = UPDATE.exec(line) ?? [];
    if (from === undefined || to === undefined || ref === undefined) throw new Error('the hook sent an unknown update');
    return { from, to, ref };
  });
  return { quarantine, updates };
}

function untilEmptyLine(requests: Readable): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const done = (): void => {
      requests.off('data', onData);
      requests.pause();
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      const tail = chunks.length > 1 ? Buffer.concat(chunks.slice(-2)) : chunk;
      if (tail.subarray(-2).toString('latin1') === '\n\n') {
        done();
        resolve(Buffer.concat(chunks).toString().slice(0, -2));
      } else if (bytes > MAX_REQUEST_BYTES) {
        done();
        reject(new Error('the push updates too many references'));
      }
    };
    requests.on('data', onData);
    requests.once('close', () => resolve(null));
    requests.once('end', () => resolve(null));
  });
}
