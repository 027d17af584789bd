/** What the API server has refused, or why it was not reached. */
import { isRecord } from '../lib/is-record.ts';
import { isUntrustedCertificate } from '../lib/untrusted-certificate.ts';

/** Of errors that no server has sent. */
export const UNREACHABLE = 'Unreachable';
export const EXPIRED = 410;
const MAX_MESSAGE = 1_000;
const BUSY: readonly number[] = [429, 500, 502, 503, 504];
const AWAY: readonly number[] = [0, 429, 503];

interface KubernetesErrorOptions {
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  /** Of HTTP; 0 when nobody answered. */
  readonly status: number;
  /** One word of the API, such as `NotFound`, `AlreadyExists`, `Conflict`, `Expired`. */
  readonly reason: string;
  /** After what time the server asks to be called again; null: it does not say. */
  readonly retryAfterMs: number | null;

  constructor(status: number, reason: string, message: string, options: KubernetesErrorOptions = {}) {
    super(message.slice(0, MAX_MESSAGE), options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** From the body of an answer that is no success, which is a `Status` unless something between has sent it. */
export function refusal(status: number, body: string, retryAfter: string | undefined): KubernetesError {
  const seconds = Number(retryAfter);
  const retryAfterMs = retryAfter !== undefined && seconds >= 0 ? seconds * 1000 : null;
  const said = statusOf(body);
  const reason = said?.reason ?? String(status);
  return new KubernetesError(status, reason, said?.message ?? `It answered ${status}: ${body.trim()}`, {
    retryAfterMs,
  });
}

/** The same from a `Status` that comes where an object was to come, as in a watch. */
export function refusalIn(object: unknown): KubernetesError {
  const fields = isRecord(object) ? object : {};
  const code = typeof fields['code'] === 'number' ? fields['code'] : 500;
  return refusal(code, JSON.stringify(object), undefined);
}

export function isStatus(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof KubernetesError && codes.includes(error.status);
}

/** Whether the same question may be answered a moment later, without anybody having changed something: the server is away, starts, or has too much to do. */
export function isPassing(error: unknown): error is KubernetesError {
  if (!(error instanceof KubernetesError) || isUntrustedCertificate(error.cause)) return false;
  return error.status === 0 || BUSY.includes(error.status);
}

/** Whether the server is not reached, or takes nothing now: what any other question would come to, too. */
export function isAway(error: unknown): boolean {
  return !(error instanceof KubernetesError) || AWAY.includes(error.status);
}

function statusOf(body: string): { reason: string; message: string } | null {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isRecord(parsed) || parsed['kind'] !== 'Status') return null;
    const { reason, message } = parsed;
    return { reason: typeof reason === 'string' ? reason : '', message: typeof message === 'string' ? message : '' };
  } catch {
    return null;
  }
}
