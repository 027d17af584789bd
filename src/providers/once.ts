/**
 * Repeats of one step within this process: while the first attempt runs, a repeat waits for its end; afterwards it gets the
 * same answer. What must hold across restarts is the handlers' business.
 */
const KEPT_MS = 10 * 60_000;
const MOST_KEPT = 1_000;

interface Kept<T> {
  readonly outcome: Promise<T>;
  /** Infinity while it runs. */
  expiresAt: number;
}

export class Once<T> {
  readonly #kept = new Map<string, Kept<T>>();

  /** A failure is not kept: the repeat is a new attempt. */
  run(key: string, work: () => Promise<T>): Promise<T> {
    this.#forget();
    const known = this.#kept.get(key);
    if (known !== undefined) return known.outcome;
    const kept: Kept<T> = { outcome: work(), expiresAt: Infinity };
    this.#kept.set(key, kept);
    kept.outcome.then(
      () => (kept.expiresAt = Date.now() + KEPT_MS),
      () => this.#kept.delete(key),
    );
    return kept.outcome;
  }

  /** Oldest first; what still runs stays. */
  #forget(): void {
    const now = Date.now();
    for (const [key, { expiresAt }] of this.#kept) {
      const isOver = expiresAt < now || (this.#kept.size >= MOST_KEPT && expiresAt !== Infinity);
      if (isOver) this.#kept.delete(key);
    }
  }
}
