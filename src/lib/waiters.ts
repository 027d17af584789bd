/** Those who wait for the next change of something. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Resolves with the next wake(), and when the signal fires or has fired. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) wake();
    });
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
