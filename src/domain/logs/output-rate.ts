/** Whether units print so much that carrying it would hold up others who share this event loop. */

const WINDOW_MS = 1_000;
/** Within a window, of all units together: some hundredths of the time of a loop. */
const MANY_LINES = 2_000;
const MANY_CHARACTERS = 256 * 1024;
const LONG_MS = 100;

export class OutputRate {
  #since = 0;
  #lines = 0;
  #characters = 0;
  #busyMs = 0;

  /** To be called with each piece, and how long it kept the loop busy; true as long as it is much. */
  isHighWith(lines: readonly { readonly text: string }[], nowMs: number, busyMs: number): boolean {
    if (nowMs - this.#since >= WINDOW_MS) {
      [this.#since, this.#lines, this.#characters, this.#busyMs] = [nowMs, 0, 0, 0];
    }
    this.#busyMs += busyMs;
    this.#lines += lines.length;
    for (const { text } of lines) this.#characters += text.length;
    return this.#lines > MANY_LINES || this.#characters > MANY_CHARACTERS || this.#busyMs > LONG_MS;
  }
}
