import { DatabaseUnreachable } from './sql-error.ts';

/**
 * Lets one user at a time through, in order of arrival; nobody waits for ever. Who has waited goes on in a turn of the event loop of its
 * own: the work is synchronous, and a long line of it must not keep the loop from everything else.
 */
export class Mutex {
  readonly #waitMs: number;
  readonly #waiting: (() => void)[] = [];
  #taken = false;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  async acquire(): Promise<void> {
    if (!this.#taken) {
      this.#taken = true;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(new DatabaseUnreachable(`The database was busy for ${this.#waitMs} ms.`));
      }, this.#waitMs);
      const enter = (): void => {
        clearTimeout(timer);
        setImmediate(resolve);
      };
      this.#waiting.push(enter);
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next();
  }
}
