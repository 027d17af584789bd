export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/** Runs `work` with a signal that fires when the caller's does or the time is over. Rejects only when `work` does. */
export async function withDeadline<T>(
  ms: number,
  signal: AbortSignal | null,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const giveUp = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  const timer = setTimeout(() => controller.abort(new DeadlineExceeded(`Not done within ${ms} ms.`)), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
