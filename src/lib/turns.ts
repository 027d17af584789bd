/** Lets so many pieces of work run at one time; the others wait, whoever came first goes first. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** `atOnce`: at least 1. */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
