/** The entries of a log that a page holds: a bounded number, in order, each once. Most are never seen, so they are read when they are. */
import type { LogEntry } from '../api/operations.ts';

/** Beyond it the oldest go, so many at once that it seldom happens. */
const MOST = 50_000;
const GOES_AT_ONCE = 5_000;

/** As it came, JSON, or read already. */
type HeldEntry = string | LogEntry;

export class LogBuffer {
  #entries: HeldEntry[] = [];
  /** Entries that are not held any more, or not yet: how far the index of an entry has moved. */
  #dropped = 0;
  readonly #most: number;

  constructor(most: number = MOST) {
    this.#most = most;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Grows by one for each entry that is dropped at the front, and shrinks for each that is added there. */
  get dropped(): number {
    return this.#dropped;
  }

  get first(): LogEntry | undefined {
    const [first] = this.#entries;
    return first === undefined ? undefined : read(first);
  }

  /** Cursor of the newest one; '' when there is none. */
  get lastCursor(): string {
    const last = this.#entries.at(-1);
    return last === undefined ? '' : read(last).Cursor;
  }

  /** Whether so many more drop none that is held. */
  hasRoom(count: number): boolean {
    return this.#entries.length + count <= this.#most;
  }

  slice(from: number, to: number): readonly LogEntry[] {
    return this.#entries.slice(from, to).map(read);
  }

  append(entries: readonly HeldEntry[]): void {
    for (const entry of entries) this.#entries.push(entry);
    if (this.#entries.length <= this.#most) return;
    const going = this.#entries.length - this.#most + Math.min(GOES_AT_ONCE, this.#most / 2);
    this.#entries = this.#entries.slice(going);
    this.#dropped += going;
  }

  /** `older`, oldest first, may overlap with what is held. Answers how many were new. */
  prepend(older: readonly LogEntry[]): number {
    const known = new Set(this.slice(0, older.length).map(({ Cursor }) => Cursor));
    const fresh = older.filter(({ Cursor }) => !known.has(Cursor));
    this.#entries = [...fresh, ...this.#entries];
    this.#dropped -= fresh.length;
    return fresh.length;
  }

  /** Makes room for older ones. */
  dropNewest(count: number): void {
    this.#entries = this.#entries.slice(0, Math.max(0, this.#entries.length - count));
  }

  clear(): void {
    this.#entries = [];
    this.#dropped = 0;
  }
}

function read(held: HeldEntry): LogEntry {
  return typeof held === 'string' ? (JSON.parse(held) as LogEntry) : held;
}
