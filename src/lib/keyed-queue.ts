/** Runs tasks with the same key one after the other, in order of arrival; different keys do not wait for each other. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** `giveUp` (optional) removes a task that has not begun yet: run() then rejects with the signal's reason. */
  async run<T>(key: string, task: () => Promise<T>, giveUp?: AbortSignal): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    let release = (): void => {};
    const turn = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tail = before.then(() => turn);
    this.#tails.set(key, tail);
    // Not before those ahead have ended: a task that gives up must not take the queue of the others with it.
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    try {
      await waitFor(before, giveUp);
      return await task();
    } finally {
      release();
    }
  }
}

async function waitFor(before: Promise<void>, giveUp: AbortSignal | undefined): Promise<void> {
  if (giveUp === undefined) return before;
  giveUp.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(giveUp.reason as Error);
    giveUp.addEventListener('abort', onAbort, { once: true });
  });
  try {
    await Promise.race([before, aborted]);
  } finally {
    giveUp.removeEventListener('abort', onAbort);
  }
}
