import { CR, IS_TEXT, LF } from './octets.ts';

/** The head is not complete yet; what came is kept. */
export const HEAD_MORE = -1;
/** A byte that no head may hold: a control character, a bare CR, a bare LF. */
export const HEAD_BAD = -2;
export const HEAD_TOO_LARGE = -3;

/** Finds the end of one message head in a stream of chunks and checks each byte on the way, once. */
export class HeadReader {
  /** The last complete head: start line and field lines, each with its CRLF, without the blank line. */
  text = '';
  readonly #limit: number;
  readonly #blankLines: number;
  #kept: Buffer | null = null;
  #size = 0;
  #start = 0;
  #at = 0;
  #skipped = 0;

  /** `limit` is in bytes; `blankLines` is how many empty lines are passed over before the start line. */
  constructor(limit: number, blankLines: number) {
    this.#limit = limit;
    this.#blankLines = blankLines;
  }

  /** True while part of a head is kept. */
  get begun(): boolean {
    return this.#kept !== null;
  }

  /** Takes bytes[from, end). Returns the index just past the head, or HEAD_MORE, HEAD_BAD, HEAD_TOO_LARGE. */
  read(bytes: Buffer, from: number, end: number): number {
    if (this.#kept !== null) return this.#readOn(bytes, from, end);
    this.#start = from;
    this.#at = from;
    this.#skipped = 0;
    const stop = this.#scan(bytes, end);
    if (stop >= 0) return this.#complete(bytes, stop);
    if (stop === HEAD_BAD) return HEAD_BAD;
    if (end - this.#start > this.#limit) return HEAD_TOO_LARGE;
    this.#size = end - this.#start;
    this.#kept = Buffer.allocUnsafe(Math.max(1024, this.#size * 2));
    bytes.copy(this.#kept, 0, this.#start, end);
    this.#at -= this.#start;
    this.#start = 0;
    return HEAD_MORE;
  }

  #readOn(bytes: Buffer, from: number, end: number): number {
    const before = this.#size;
    const take = Math.min(end - from, this.#limit + 5 - before);
    const kept = this.#roomFor(before + take);
    bytes.copy(kept, before, from, from + take);
    this.#size = before + take;
    const stop = this.#scan(kept, this.#size);
    if (stop >= 0) {
      const outcome = this.#complete(kept, stop);
      this.#kept = null;
      return outcome < 0 ? outcome : from + stop - before;
    }
    if (stop === HEAD_BAD) return HEAD_BAD;
    return this.#size - this.#start > this.#limit ? HEAD_TOO_LARGE : HEAD_MORE;
  }

  #roomFor(size: number): Buffer {
    const kept = this.#kept ?? Buffer.allocUnsafe(size);
    if (size <= kept.length) return kept;
    const larger = Buffer.allocUnsafe(size * 2);
    kept.copy(larger, 0, 0, this.#size);
    this.#kept = larger;
    return larger;
  }

  #complete(bytes: Buffer, stop: number): number {
    if (stop - this.#start > this.#limit) return HEAD_TOO_LARGE;
    this.text = bytes.toString('latin1', this.#start, stop - 2);
    return stop;
  }

  #scan(bytes: Buffer, end: number): number {
    let at = this.#at;
    while (at < end) {
      if (IS_TEXT[bytes[at] as number] === 1) {
        at++;
        continue;
      }
      if (bytes[at] !== CR) return HEAD_BAD;
      if (at + 1 >= end) break;
      if (bytes[at + 1] !== LF) return HEAD_BAD;
      if (at === this.#start) {
        if (++this.#skipped > this.#blankLines) return HEAD_BAD;
        at += 2;
        this.#start = at;
        continue;
      }
      if (at + 2 >= end) break;
      if (bytes[at + 2] !== CR) {
        at += 2;
        continue;
      }
      if (at + 3 >= end) break;
      if (bytes[at + 3] !== LF) return HEAD_BAD;
      return at + 4;
    }
    this.#at = at;
    return HEAD_MORE;
  }
}
