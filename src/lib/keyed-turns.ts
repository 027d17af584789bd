import { once } from './once.ts';

interface KeyedTurnsOptions {
  /** Of one key at one time. */
  readonly atOnce: number;
  /** More of one key than may wait are refused. */
  readonly waiting: number;
}

interface Line {
  underWay: number;
  readonly waiting: (() => void)[];
}

/** Lets so much work of one key go on at one time; so much more waits, whoever came first goes first. Different keys do not wait for each other. */
export class KeyedTurns {
  readonly #options: KeyedTurnsOptions;
  /** Of keys that have work under way. */
  readonly #lines = new Map<string, Line>();

  constructor(options: KeyedTurnsOptions) {
    this.#options = options;
  }

  /** What to call at the end of the work, once or more; null where it has to wait. */
  begin(key: string): (() => void) | null {
    const line = this.#lines.get(key) ?? { underWay: 0, waiting: [] };
    if (line.underWay >= this.#options.atOnce) return null;
    line.underWay += 1;
    this.#lines.set(key, line);
    return this.#end(key, line);
  }

  /** After begin() has answered null: resolves to what that answers, when it is this one's turn; null where too many wait. */
  wait(key: string): Promise<() => void> | null {
    const line = this.#lines.get(key);
    if (line === undefined || line.waiting.length >= this.#options.waiting) return null;
    return new Promise((resolve) => line.waiting.push(() => resolve(this.#end(key, line))));
  }

  #end(key: string, line: Line): () => void {
    return once(() => {
      const next = line.waiting.shift();
      if (next !== undefined) return next();
      line.underWay -= 1;
      if (line.underWay === 0) this.#lines.delete(key);
    });
  }
}
