import { setTimeout as delay } from 'node:timers/promises';

interface RetryOptions {
  readonly firstPauseMs: number;
  /** Each pause is twice the one before, up to this. */
  readonly longestPauseMs: number;
  /** Ends the pause and gives up: the error of the last attempt is thrown. */
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** Of errors that follow each other with the same words only the first. */
export function whenAnother(onError: (error: unknown) => void): (error: unknown) => void {
  let said: string | null = null;
  return (error) => {
    const words = String(error);
    if (words !== said) onError(error);
    said = words;
  };
}

/** For what must be done in the end: tries again until `work` succeeds or the signal fires. */
export async function retry<T>(work: (attempt: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { signal, onError, longestPauseMs } = options;
  let pauseMs = options.firstPauseMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (signal.aborted) throw error;
      onError(error);
      await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) throw error;
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    }
  }
}
