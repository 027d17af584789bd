/** Archives from web servers, at checked addresses only. Redirects are followed a few times, each to an address that is checked again. */
import type { IncomingMessage } from 'node:http';
import type { ArchiveSource } from '../../../domain/deploys/archive-source.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { deadline } from '../../../lib/deadline.ts';
import { type AddressGuard, createAddressGuard, type AddressGuardOptions } from '../../../lib/guarded/address-guard.ts';
import { openRequest, RequestFailure } from '../../../lib/guarded/guarded-request.ts';

const CONNECT_MS = 10_000;
const FETCH_MS = 15 * 60_000;
const MAX_REDIRECTS = 5;

export function createHttpArchives(options: AddressGuardOptions): ArchiveSource {
  const guard = createAddressGuard(options);
  return {
    async *open(url, signal) {
      const limited = deadline(FETCH_MS, signal);
      try {
        const answer = await found(guard, addressOf(url), limited.signal);
        try {
          yield* answer as AsyncIterable<Uint8Array>;
        } finally {
          answer.destroy();
        }
      } catch (error) {
        if (signal.aborted) throw new PlatformError('cancelled', 'The deploy was cancelled.', { cause: error });
        throw error instanceof PlatformError ? error : unreachable(error);
      } finally {
        limited.clear();
      }
    },
  };
}

async function found(guard: AddressGuard, start: URL, signal: AbortSignal): Promise<IncomingMessage> {
  let url = start;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const headers = { accept: '*/*', 'user-agent': 'tancho' };
    const answer = await openRequest(guard, { method: 'GET', url, headers, body: null, connectMs: CONNECT_MS, signal });
    const { statusCode = 0, headers: given } = answer;
    if (statusCode === 200) return answer;
    answer.destroy();
    if (![301, 302, 303, 307, 308].includes(statusCode) || given.location === undefined) {
      throw cannot(`its server answered ${statusCode}.`);
    }
    if (!URL.canParse(given.location, url.href)) throw cannot('its server sends on to nowhere.');
    url = addressOf(new URL(given.location, url).href);
  }
  throw cannot('its server sends on and on.');
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw cannot('an address begins with http:// or https:// and holds no password.');
}

function unreachable(error: unknown): PlatformError {
  return cannot(error instanceof RequestFailure ? `${error.message}.` : 'the connection broke.', error);
}

function cannot(why: string, cause?: unknown): PlatformError {
  return new PlatformError('input.invalid', `The archive cannot be fetched: ${why}`, {
    cause,
    hint: 'Send the archive itself as the part "file" of a multipart form, or push the code with git.',
  });
}
