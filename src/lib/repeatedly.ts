/**
 * Does the work again and again, with a pause before each time, never twice at once. The returned function stops it and resolves
 * when it has ended; `work` must not throw, and is to end early when the signal fires.
 */
export function repeatedly(pauseMs: number, work: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const stop = new AbortController();
  let running = Promise.resolve();
  let timer = setTimeout(turn, pauseMs);
  timer.unref();

  function turn(): void {
    running = work(stop.signal).then(() => {
      if (stop.signal.aborted) return;
      timer = setTimeout(turn, pauseMs);
      timer.unref();
    });
  }

  return async () => {
    stop.abort();
    clearTimeout(timer);
    await running;
  };
}
