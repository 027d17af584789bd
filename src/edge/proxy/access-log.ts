import type { AccessEntry } from '../../domain/routes/router.ts';

/** Of one app in one worker; what is beyond is counted alone. */
const MOST_PER_SECOND = 50;
/** Of all apps, when nobody comes for them. */
const MOST_KEPT = 5_000;

interface Second {
  number: number;
  lines: number;
  left: number;
}

/** Lines of requests until somebody takes them: never more than a bounded number, and the answers wait for nothing of it. */
export class AccessLog {
  #entries: AccessEntry[] = [];
  readonly #seconds = new Map<string, Second>();

  /** `line` is only made where there is room for it. */
  add(app: string, line: () => string): void {
    const atMs = Date.now();
    const second = this.#secondOf(app, Math.floor(atMs / 1_000));
    if (second.lines >= MOST_PER_SECOND || this.#entries.length >= MOST_KEPT) {
      second.left++;
      return;
    }
    second.lines++;
    this.#entries.push({ app, atMs, line: line() });
  }

  /** Each line is returned once; for lines that were left out, one that says how many. */
  take(): AccessEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    const atMs = Date.now();
    for (const [app, { number, left }] of this.#seconds) {
      if (left > 0) entries.push({ app, atMs, line: `gap=${left} more requests than are logged` });
      if (left > 0 || number !== Math.floor(atMs / 1_000)) this.#seconds.delete(app);
    }
    return entries;
  }

  #secondOf(app: string, number: number): Second {
    const known = this.#seconds.get(app);
    if (known === undefined) {
      const second = { number, lines: 0, left: 0 };
      this.#seconds.set(app, second);
      return second;
    }
    if (known.number !== number) {
      known.number = number;
      known.lines = 0;
    }
    return known;
  }
}
