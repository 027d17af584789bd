/** Entries that came one after the other, as all who follow a log see them: what several of them want of it is picked out once. */
import type { LogEntry } from './entry.ts';
import type { LogSelection } from './wanted.ts';

/** So many kinds of readers share what is picked out for them; others have their own. */
const SHARED_KINDS = 8;

const shared = new WeakSet<readonly LogEntry[]>();

/** Whether others are likely to get this very array. */
export function isShared(batch: readonly LogEntry[]): boolean {
  return shared.has(batch);
}

export class Chunk {
  /** All entries of the app after this seq ... */
  readonly after: number;
  /** ... up to this one. */
  readonly upTo: number;
  readonly entries: readonly LogEntry[];
  /** Of the messages. */
  readonly bytes: number;
  readonly #picked = new Map<string, readonly LogEntry[]>();

  constructor(after: number, upTo: number, entries: readonly LogEntry[]) {
    this.after = after;
    this.upTo = upTo;
    this.entries = entries;
    this.bytes = bytesOf(entries);
    shared.add(entries);
  }

  /** The very same array for all who want the same. */
  pick({ key, isOne }: LogSelection): readonly LogEntry[] {
    if (isOne === null) return this.entries;
    const known = this.#picked.get(key);
    if (known !== undefined) return known;
    const picked = this.entries.filter(isOne);
    if (this.#picked.size < SHARED_KINDS) {
      this.#picked.set(key, picked);
      shared.add(picked);
    }
    return picked;
  }

  /** For who has seen a part of it. */
  rest(after: number): Chunk {
    return new Chunk(
      after,
      this.upTo,
      this.entries.filter(({ seq }) => seq > after),
    );
  }
}

export function bytesOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { message }) => sum + message.length, 0);
}
