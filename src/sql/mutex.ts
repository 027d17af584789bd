import { DatabaseUnreachable } from './sql-error.ts';

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: Error) => void;
}

/** Lets one user at a time through, in order of arrival; nobody waits for ever. */
export class Mutex {
  readonly #waitMs: number;
  readonly #waiting: Waiter[] = [];
  #taken = false;
  #closed = false;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  async acquire(): Promise<void> {
    if (this.#closed) throw new DatabaseUnreachable('The database is closed.');
    if (!this.#taken) {
      this.#taken = true;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(new DatabaseUnreachable(`The database was busy for ${this.#waitMs} ms.`));
      }, this.#waitMs);
      const waiter: Waiter = {
        enter: () => {
          clearTimeout(timer);
          resolve();
        },
        refuse: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.#waiting.push(waiter);
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else next.enter();
  }

  /** Waits for its turn, then lets nobody else in. */
  async close(): Promise<void> {
    await this.acquire();
    this.#closed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(new DatabaseUnreachable('The database is closed.'));
  }
}
