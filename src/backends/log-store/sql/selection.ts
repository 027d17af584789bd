/** Pure: which entries of a block are wanted. */
import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import { mayContain } from './block-filter.ts';
import { entryAt, messageAt, type OpenBlock, type Stream } from './block.ts';

/** Of the id of a unit, or the whole of it. */
const ID_START = /^[0-9a-f]{1,64}$/;

export class Selection {
  readonly #filter: LogFilter;
  readonly #isIdStart: boolean;

  constructor(filter: LogFilter) {
    this.#filter = filter;
    this.#isIdStart = filter.unit !== undefined && ID_START.test(filter.unit);
  }

  /** False: no entry of the block can be wanted. */
  mayHave(streams: readonly Stream[], filter: Uint8Array | undefined): boolean {
    const { contains } = this.#filter;
    if (!streams.some((stream) => this.#isOf(stream))) return false;
    return contains === undefined || filter === undefined || mayContain(filter, contains);
  }

  /** At most `limit` entries with a seq between the two, from the oldest on, or from the newest back. */
  entries(block: OpenBlock, streams: readonly Stream[], span: Span): LogEntry[] {
    const { app, oldestFirst, contains } = this.#filter;
    if (contains !== undefined && !block.text.toString('utf8').toLowerCase().includes(contains)) return [];
    const areWanted = streams.map((stream) => this.#isOf(stream));
    const found: LogEntry[] = [];
    const { length } = block.seqs;
    for (let step = 0; step < length && found.length < span.limit; step++) {
      const place = oldestFirst === true ? step : length - 1 - step;
      if (areWanted[block.origins[place] ?? 0] !== true || !this.#isWithin(block, place, span)) continue;
      if (contains !== undefined && !messageAt(block, place).toLowerCase().includes(contains)) continue;
      found.push(entryAt(app, block, streams, place));
    }
    return found;
  }

  #isWithin(block: OpenBlock, place: number, { after, before }: Span): boolean {
    const { since, until } = this.#filter;
    const [seq = 0, at = ''] = [block.seqs[place], block.ats[place]];
    // Equally long texts in one time zone sort as the times do.
    return seq > after && seq < before && (since === undefined || at >= since) && (until === undefined || at < until);
  }

  #isOf([source, unit, unitId, release]: Stream): boolean {
    const { source: wanted, unit: name, process, releases } = this.#filter;
    if (wanted !== undefined && source !== wanted) return false;
    if (name !== undefined && unit !== name && !(this.#isIdStart && unitId.startsWith(name))) return false;
    // Other entries can have the name of a process as their source.
    if (process !== undefined && (source !== process || unitId === '')) return false;
    return releases === undefined || releases.includes(release);
  }
}

interface Span {
  readonly after: number;
  readonly before: number;
  readonly limit: number;
}
