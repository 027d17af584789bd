/** Brings one blob into a file, or all of a small one into memory; nothing is kept that is not what its digest says. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { notPulled } from './failures.ts';
import type { Descriptor } from './manifests.ts';
import type { RegistryClient } from './registry-client.ts';

const ATTEMPTS = 3;

interface Download {
  readonly client: Pick<RegistryClient, 'get'>;
  readonly blob: Descriptor;
  readonly stallMs: number;
  readonly signal: AbortSignal;
  /** Called with the number of bytes that have come. */
  readonly progress?: (bytes: number) => void;
}

/** Throws Failure `pull_failed`, RequestFailure. */
export async function downloadFile(download: Download, path: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const file = await open(path, 'w', 0o600);
    try {
      await take(download, (chunk) => file.writeFile(chunk));
      return;
    } catch (error) {
      const isBroken = error instanceof RequestFailure && error.code === 'unreachable';
      if (!isBroken || attempt === ATTEMPTS || download.signal.aborted) throw error;
    } finally {
      await file.close();
    }
  }
}

/** Throws Failure `pull_failed`, RequestFailure. */
export async function downloadText(download: Download): Promise<string> {
  const chunks: Buffer[] = [];
  await take(download, async (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

async function take(download: Download, keep: (chunk: Buffer) => Promise<void>): Promise<void> {
  const { client, blob, signal, stallMs } = download;
  const answer = await client.get(`blobs/${blob.digest}`, '*/*');
  const hash = createHash('sha256');
  const stalled = setTimeout(() => answer.destroy(notPulled('its registry has stopped sending.')), stallMs);
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      stalled.refresh();
      bytes += chunk.length;
      if (bytes > blob.size) throw notPulled(`the registry sends more of ${blob.digest} than its manifest says.`);
      hash.update(chunk);
      await keep(chunk);
      download.progress?.(bytes);
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (signal.aborted || !/^(?:ECONN|EPIPE|ETIMEDOUT|ERR_STREAM_PREMATURE_CLOSE)/.test(code)) throw error;
    throw new RequestFailure('unreachable', 'the connection to the registry broke', true, error);
  } finally {
    clearTimeout(stalled);
    answer.destroy();
  }
  if (bytes < blob.size) throw notPulled(`the registry sends less of ${blob.digest} than its manifest says.`);
  if (`sha256:${hash.digest('hex')}` === blob.digest) return;
  throw notPulled(`what the registry sends as ${blob.digest} is something else.`);
}
