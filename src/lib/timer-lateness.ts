const EVERY_MS = 50;

/** How late timers of this process fire while it measures: a machine that is paused or overloaded makes them late. */
export class TimerLateness {
  readonly #timer: NodeJS.Timeout;
  #due = performance.now() + EVERY_MS;
  #worst = 0;

  constructor() {
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  /** Ends it; milliseconds. */
  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#worst;
  }

  #look(): void {
    const now = performance.now();
    this.#worst = Math.max(this.#worst, now - this.#due);
    this.#due = now + EVERY_MS;
  }
}
