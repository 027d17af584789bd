/** Contract: carries lines to receivers. Implementations live in backends/drain-sender/<name>. */
import type { LogEntry } from '../logs/entry.ts';
import type { DrainTarget } from './drain.ts';

export interface DrainSender {
  /**
   * Resolves when the receiver has all of them, with what it answered, fit to be shown. Throws DeliveryFailure only, whatever is
   * wrong; then the receiver may have some.
   */
  send(target: DrainTarget, entries: readonly LogEntry[], signal: AbortSignal): Promise<string>;
}

/** `too_large`: in smaller parts it may be taken; `refused`: these lines as they are; `later`: the same again may be taken. */
export type DeliveryProblem = 'too_large' | 'refused' | 'later';

/** The message is one sentence, free of secrets, that says what the receiver did. */
export class DeliveryFailure extends Error {
  override readonly name = 'DeliveryFailure';
  readonly problem: DeliveryProblem;
  /** Not before so long, as the receiver wishes; 0 when it wishes nothing. */
  readonly retryAfterMs: number;

  constructor(problem: DeliveryProblem, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.problem = problem;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}
