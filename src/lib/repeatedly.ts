/**
 * Does the work again and again, with a pause before each time, never twice at once. The returned function stops it and resolves
 * when it has ended; `work` must not throw, and is to end early when the signal fires. A function is asked for each pause anew.
 */
export function repeatedly(
  pauseMs: number | (() => number),
  work: (signal: AbortSignal) => Promise<void>,
): () => Promise<void> {
  const stop = new AbortController();
  let running = Promise.resolve();
  let timer = afterPause();

  function afterPause(): NodeJS.Timeout {
    return setTimeout(turn, typeof pauseMs === 'number' ? pauseMs : pauseMs()).unref();
  }

  function turn(): void {
    running = work(stop.signal).then(() => {
      if (!stop.signal.aborted) timer = afterPause();
    });
  }

  return async () => {
    stop.abort();
    clearTimeout(timer);
    await running;
  };
}
