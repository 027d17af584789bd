import { once } from './once.ts';

/** How many are under way, by key; nothing is kept of a key that has none. */
export class KeyedCounter {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** One more. The answer takes it back, once, however often it is called. */
  enter(key: string): () => void {
    this.#counts.set(key, this.of(key) + 1);
    return once(() => {
      const left = this.of(key) - 1;
      if (left === 0) this.#counts.delete(key);
      else this.#counts.set(key, left);
    });
  }
}
