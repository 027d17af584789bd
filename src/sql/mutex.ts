import { DatabaseUnreachable } from './sql-error.ts';

/** Two lines, which take turns: a single statement waits for one transaction, not for all that came before it. */
type Line = 'statements' | 'transactions';

/**
 * Lets one user at a time through, of each line in order of arrival; nobody waits for ever. Who has waited goes on in a turn of the event loop of its
 * own: the work is synchronous, and a long line of it must not keep the loop from everything else.
 */
export class Mutex {
  readonly #waitMs: number;
  readonly #waiting: Record<Line, (() => void)[]> = { statements: [], transactions: [] };
  #next: Line = 'statements';
  #taken = false;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  async acquire(line: Line = 'transactions'): Promise<void> {
    if (!this.#taken) {
      this.#taken = true;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const waiting = this.#waiting[line];
        waiting.splice(waiting.indexOf(enter), 1);
        reject(new DatabaseUnreachable(`The database was busy for ${this.#waitMs} ms.`));
      }, this.#waitMs);
      const enter = (): void => {
        clearTimeout(timer);
        setImmediate(resolve);
      };
      this.#waiting[line].push(enter);
    });
  }

  release(): void {
    const { statements, transactions } = this.#waiting;
    const [first, second] = this.#next === 'statements' ? [statements, transactions] : [transactions, statements];
    const next = first.shift() ?? second.shift();
    this.#next = this.#next === 'statements' ? 'transactions' : 'statements';
    if (next === undefined) this.#taken = false;
    else next();
  }
}
