/** One POST to a checked address; what its status means for the lines is decided here. */
import type { DrainTarget } from '../../../domain/drains/drain.ts';
import { DeliveryFailure, type DeliveryProblem } from '../../../domain/drains/drain-sender.ts';
import type { AddressGuard } from '../../../lib/guarded/address-guard.ts';
import { openRequest, readAnswer, RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { requestFailed } from '../../../lib/guarded/receiver-words.ts';
import { createRedactor, withEncoded } from '../../../lib/redact.ts';
import type { Message } from './message.ts';

const CONNECT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_SHOWN = 300;
const MAX_TITLE = 80;
const MAX_RETRY_AFTER_MS = 60 * 60_000;

export interface HttpTarget extends Pick<DrainTarget, 'url' | 'headers'> {
  readonly roots?: string;
}

/** Answers the status and the beginning of the answer. Throws DeliveryFailure. */
export async function sendHttp(
  guard: AddressGuard,
  { url, headers, roots }: HttpTarget,
  { type, body }: Message,
  signal: AbortSignal,
): Promise<string> {
  try {
    const answer = await openRequest(guard, {
      method: 'POST',
      url: new URL(url),
      headers: { 'user-agent': 'tancho', ...headers, 'content-type': type },
      body,
      connectMs: CONNECT_MS,
      signal,
      ...(roots !== undefined && { roots }),
    });
    const status = answer.statusCode ?? 0;
    const retryAfterMs = retryAfter(answer.headers['retry-after']);
    const text = await readAnswer(answer, MAX_ANSWER_BYTES, signal).catch(() => '');
    const redact = redactorOf(url, headers);
    const words = redact(text).replace(/\s+/g, ' ').trim().slice(0, MAX_SHOWN);
    const title = redact(`${status} ${answer.statusMessage ?? ''}`)
      .slice(0, MAX_TITLE)
      .trimEnd();
    const shown = words === '' ? title : `${title}: ${words}`;
    if (status >= 200 && status < 300) return shown;
    throw new DeliveryFailure(problemOf(status), `The receiver answered ${shown}`, { retryAfterMs });
  } catch (error) {
    if (error instanceof DeliveryFailure) throw error;
    if (error instanceof RequestFailure) throw new DeliveryFailure('later', requestFailed(error), { cause: error });
    throw new DeliveryFailure('later', 'The lines could not be sent.', { cause: error });
  }
}

function problemOf(status: number): DeliveryProblem {
  if (status === 413) return 'too_large';
  return status === 400 || status === 422 ? 'refused' : 'later';
}

/** A receiver may quote what it was asked. */
function redactorOf(url: string, headers: DrainTarget['headers']): (text: string) => string {
  const { pathname, search, searchParams } = new URL(url);
  const values = Object.values(headers);
  const words = values.flatMap((value) => value.split(' ').slice(1));
  const segments = pathname.split('/').filter((segment) => segment.length >= 16);
  return createRedactor(
    withEncoded([...values, ...words, ...segments, ...(search === '' ? [] : searchParams.values())]),
  );
}

function retryAfter(given: string | undefined): number {
  const seconds = /^\d{1,9}$/.test(given ?? '') ? Number(given) : 0;
  return Math.min(MAX_RETRY_AFTER_MS, seconds * 1000);
}
