export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

interface Deadline {
  readonly signal: AbortSignal;
  /** To be called when what it limits is over. */
  clear(): void;
}

/**
 * A signal that fires when the caller's does or the time is over. In place of AbortSignal.any() with AbortSignal.timeout(), which
 * never fires once the collector has taken the timeout, because nothing but the other signal knows of it.
 */
export function deadline(ms: number, signal: AbortSignal | null): Deadline {
  const controller = new AbortController();
  const giveUp = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  const timer = setTimeout(() => controller.abort(new DeadlineExceeded(`Not done within ${ms} ms.`)), ms);
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    },
  };
}

/** Runs `work` with such a signal. Rejects only when `work` does. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limited = deadline(ms, signal);
  try {
    return await work(limited.signal);
  } finally {
    limited.clear();
  }
}

/** Runs `work` also where `signal` has fired, and once it has for at most `ms` more. Rejects only when `work` does. */
export async function withGrace<T>(
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const hurry = (): void => {
    timer = setTimeout(() => controller.abort(signal.reason), ms);
  };
  if (signal.aborted) hurry();
  else signal.addEventListener('abort', hurry, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    signal.removeEventListener('abort', hurry);
    clearTimeout(timer);
  }
}

/** Resolves when `work` has ended well, or after `ms`; rejects when it has failed before. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

/** What `work` gives; rejects with what `late` makes when that takes longer than `ms`. The work itself goes on. */
export async function inTime<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
