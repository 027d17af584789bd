/** Lets so many pieces of work run at one time; the others wait, whoever came first goes first. */
export class Turns {
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** `atOnce`: at least 1. */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Rejects with the signal's reason where that fires before the work has its turn. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(begin);
        reject(signal?.reason as Error);
      };
      const begin = (): void => {
        this.#waiting.delete(begin);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      this.#waiting.add(begin);
      signal?.addEventListener('abort', leave, { once: true });
      if (signal?.aborted === true) leave();
    });
  }
}
