/** Pure: which entries of a block are wanted. */
import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import { isWantedOrigin, type LogOrigin } from '../../../domain/logs/wanted.ts';
import { mayContain } from './block-filter.ts';
import { entryAt, messageAt, type OpenBlock, type Stream } from './block.ts';
import type { Finder } from './search/finder.ts';

const NEWLINE = 10;
/** So much is made text of at a time: it goes with the young generation, and larger texts stay until much else has gathered. */
const SLICE_BYTES = 32 * 1024;

export class Selection {
  readonly #filter: LogFilter;
  readonly #finder: Finder | null;
  readonly #isWanted: (origin: LogOrigin) => boolean;

  constructor(filter: LogFilter, finder: Finder | null = null) {
    this.#filter = filter;
    this.#finder = finder;
    this.#isWanted = isWantedOrigin(filter);
  }

  /** False: no entry of the block can be wanted. */
  mayHave(streams: readonly Stream[], filter: Uint8Array | undefined): boolean {
    const { contains } = this.#filter;
    if (!streams.some((stream) => this.#isOf(stream))) return false;
    return contains === undefined || filter === undefined || mayContain(filter, contains);
  }

  /** At most `limit` entries with a seq between the two, no more once they have so many bytes, from the oldest on, or from the newest back. */
  entries(block: OpenBlock, streams: readonly Stream[], span: Span): Selected {
    const { app, oldestFirst } = this.#filter;
    const candidates = this.#candidates(block);
    if (candidates?.length === 0) return { entries: [], stoppedAt: null };
    const areWanted = streams.map((stream) => this.#isOf(stream));
    const found: LogEntry[] = [];
    const { seqs, origins } = block.places;
    const length = candidates?.length ?? seqs.length;
    let left = span.bytes;
    for (let step = 0; step < length && found.length < span.limit && left > 0; step++) {
      const number = oldestFirst === true ? step : length - 1 - step;
      const place = candidates === null ? number : (candidates[number] ?? 0);
      if (areWanted[origins[place] ?? 0] !== true || !this.#isWithin(block, place, span)) continue;
      if (this.#finder?.matches(messageAt(block, place)) !== false) {
        const entry = entryAt(app, block, streams, place);
        found.push(entry);
        left -= entry.message.length;
      }
      if (span.endAt !== undefined && performance.now() > span.endAt)
        return { entries: found, stoppedAt: seqs[place] ?? null };
    }
    return { entries: found, stoppedAt: null };
  }

  /** Places of messages that have to be looked at, in their order; null: all. */
  #candidates(block: OpenBlock): readonly number[] | null {
    const finder = this.#finder;
    if (finder === null) return null;
    const places: number[] = [];
    const atOnce = finder.isOfOneLine ? SLICE_BYTES : Infinity;
    for (let from = 0; from < block.text.length;) {
      const end = sliceEnd(block.text, from, atOnce);
      addCandidates(places, block, { from, end, finder });
      from = end;
    }
    return places;
  }

  #isWithin(block: OpenBlock, place: number, { after, before }: Span): boolean {
    const { since, until } = this.#filter;
    const { seqs, ats } = block.places;
    const [seq = 0, at = ''] = [seqs[place], ats[place]];
    // Equally long texts in one time zone sort as the times do.
    return seq > after && seq < before && (since === undefined || at >= since) && (until === undefined || at < until);
  }

  #isOf([source, unit, unitId, release]: Stream): boolean {
    return this.#isWanted({ source, unit, unitId, release });
  }
}

/** Behind the last newline within so many bytes, or the first one behind them. */
function sliceEnd(text: Buffer, from: number, atOnce: number): number {
  if (text.length - from <= atOnce) return text.length;
  const last = text.lastIndexOf(NEWLINE, from + atOnce - 1);
  const end = last >= from ? last : text.indexOf(NEWLINE, from + atOnce);
  return end < 0 ? text.length : end + 1;
}

/** Of the messages between two bytes. */
function addCandidates(
  places: number[],
  block: OpenBlock,
  { from, end, finder }: { readonly from: number; readonly end: number; readonly finder: Finder },
): void {
  const text = block.text.toString('utf8', from, end);
  let found = finder.next(text, 0);
  if (found === null) return;
  const { starts } = block.places;
  // Characters that are bytes stand where the bytes stand.
  if (text.length !== end - from) found = [0, end - from];
  for (let place = places.at(-1) ?? 0; found !== null;) {
    const [first, last] = [from + found[0], Math.min(from + found[1], end)];
    place = placeOf(starts, first, place);
    if (places.at(-1) !== place) places.push(place);
    while ((starts[place + 1] ?? Infinity) < last) places.push((place += 1));
    const next = starts[place + 1] ?? Infinity;
    found = next < end ? finder.next(text, next - from) : null;
  }
}

/** The message within which the byte lies; not before `from`. */
function placeOf(starts: readonly number[], byte: number, from: number): number {
  let [low, high] = [from, starts.length - 2];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= byte) low = middle;
    else high = middle - 1;
  }
  return low;
}

export interface Span {
  readonly after: number;
  readonly before: number;
  readonly limit: number;
  /** Of messages. */
  readonly bytes: number;
  /** Of the clock of the thread: no more messages are looked at from then on, but one in any case. Absent: all are. */
  readonly endAt?: number;
}

export interface Selected {
  readonly entries: readonly LogEntry[];
  /** The seq of the last message that was looked at before the time was over; null: it was not. */
  readonly stoppedAt: number | null;
}
