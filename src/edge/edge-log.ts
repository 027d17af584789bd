const MAX_LINES = 500;
const HOUR_MS = 3_600_000;

/** The edge's own log: lines on standard error, no more than a few hundred an hour, for its file is never rotated. */
export class EdgeLog {
  #left = MAX_LINES;
  #hour = 0;

  line(text: string): void {
    const hour = Math.floor(Date.now() / HOUR_MS);
    if (hour !== this.#hour) {
      this.#hour = hour;
      this.#left = MAX_LINES;
    }
    if (this.#left-- > 0) process.stderr.write(`${new Date().toISOString()} ${text}\n`);
  }
}
