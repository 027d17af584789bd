/** One message to one webhook, from what happened to the last answer. Rules only: no storage, no effects. */
import type { OccurrenceKind } from './occurrence.ts';

const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Of each webhook, the newest. */
export const KEPT_DELIVERIES = { over: 200, waiting: 1_000 };

export interface Delivery {
  /** The same at each attempt, so that receivers recognize a repetition. */
  readonly id: string;
  readonly webhook: string;
  readonly kind: OccurrenceKind | 'webhook.test';
  readonly app: string;
  /** JSON, as it is sent. */
  readonly body: string;
  readonly state: DeliveryState;
  /** ISO 8601 UTC, like all times here. */
  readonly createdAt: string;
  /** Where the time begins within which it is tried. */
  readonly retriedSince: string;
  /** Of one that waits. */
  readonly nextAttemptAt: string;
  readonly attempts: number;
  /** '': none yet. */
  readonly lastAttemptAt: string;
  /** HTTP status of the last answer; 0: there was none. */
  readonly status: number;
  /** The beginning of the last answer, or why there was none. */
  readonly answer: string;
}

/** What became of one attempt. */
export interface DeliveryAttempt {
  readonly status: number;
  readonly answer: string;
  /** Not before so long, as the receiver wishes; 0 when it wishes nothing. */
  readonly retryAfterMs: number;
}

/** After the first attempt, the second, and so on; the last one for all further. */
const PAUSES_MS = [5_000, 30_000, 2 * 60_000, 10 * 60_000, 30 * 60_000, 60 * 60_000, 3 * 60 * 60_000];
const LAST_PAUSE_MS = 3 * 60 * 60_000;
const TRIED_FOR_MS = 24 * 60 * 60_000;
/** The receiver says that it wants nothing any more. */
const GONE = 410;

/** `spread` from 0 to 1: those that fail together do not come back together. */
export function afterAttempt(delivery: Delivery, attempt: DeliveryAttempt, now: Date, spread: number): Delivery {
  const { status, answer, retryAfterMs } = attempt;
  const at = now.toISOString();
  const attempts = delivery.attempts + 1;
  const tried = { ...delivery, attempts, lastAttemptAt: at, status, answer };
  if (status >= 200 && status < 300) return { ...tried, state: 'delivered' };
  const pauseMs = (PAUSES_MS[attempts - 1] ?? LAST_PAUSE_MS) * (0.75 + spread / 2);
  const next = now.getTime() + Math.max(pauseMs, retryAfterMs);
  if (status === GONE || next > Date.parse(delivery.retriedSince) + TRIED_FOR_MS) return { ...tried, state: 'failed' };
  return { ...tried, nextAttemptAt: new Date(next).toISOString() };
}

/** At once, with the same ID and body. */
export function sentAgain(delivery: Delivery, now: Date): Delivery {
  const at = now.toISOString();
  return { ...delivery, state: 'waiting', attempts: 0, retriedSince: at, nextAttemptAt: at };
}
