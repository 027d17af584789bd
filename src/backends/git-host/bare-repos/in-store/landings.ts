/** Pushes between the move of their references in the store and that of git's own, which must find them as it has read them. */
import { atMost } from '../../../../lib/deadline.ts';

export class Landings {
  readonly #longestMs: number;
  readonly #at = new Map<string, Set<Promise<void>>>();

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** The returned function is to be called at the end. */
  enter(app: string): () => void {
    let leave = (): void => {};
    const landing = new Promise<void>((resolve) => (leave = resolve));
    const all = this.#at.get(app) ?? new Set();
    this.#at.set(app, all.add(landing));
    return () => {
      leave();
      all.delete(landing);
      if (all.size === 0 && this.#at.get(app) === all) this.#at.delete(app);
    };
  }

  /** Resolves when there is none, or one takes too long. */
  async over(app: string): Promise<void> {
    await atMost(this.#longestMs, Promise.all(this.#at.get(app) ?? []));
  }
}
