export interface Watched {
  /** In the clock of Deadlines; Infinity for none. */
  deadline: number;
  expire(): void;
}

/**
 * One coarse, monotonic clock for all time-outs: setting a deadline is a single assignment, so it can be done for every piece
 * of every body. Deadlines fire up to three ticks late, never early, also when this process stood still meanwhile.
 */
export class Deadlines {
  /** Of the last tick. */
  now = performance.now();
  readonly #tickMs: number;
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;
  #waitsForInput = false;

  constructor(tickMs: number) {
    this.#tickMs = tickMs;
  }

  watch(watched: Watched): void {
    this.#watched.add(watched);
    if (this.#timer !== null) return;
    this.now = performance.now();
    this.#timer = setInterval(() => this.#tick(), this.#tickMs);
    this.#timer.unref();
  }

  forget(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  /** The deadline `ms` from now. */
  after(ms: number): number {
    return performance.now() + ms;
  }

  #tick(): void {
    const before = this.now;
    this.now = performance.now();
    this.#waitsForInput = !this.#waitsForInput && this.now - before > 2 * this.#tickMs;
    // Timers come before input in a turn of the event loop: what has arrived is read first, and after a standstill what follows from it, too.
    if (!this.#waitsForInput) setImmediate(() => this.#expireDue());
  }

  #expireDue(): void {
    for (const watched of this.#watched) {
      if (watched.deadline > this.now) continue;
      watched.deadline = Number.POSITIVE_INFINITY;
      watched.expire();
    }
  }
}
