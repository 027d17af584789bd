/** Reading a log: within a bound of bytes and of time, and with what is missing said in its place. */
import { setImmediate } from 'node:timers/promises';
import { PlatformError } from '../errors.ts';
import type { LogEntry, LogFilter } from './entry.ts';
import type { LogStore } from './log-store.ts';
import type { Matcher } from './matcher.ts';
import { removedMark } from './removed-mark.ts';

const PAGE = 1_000;
/** Of one answer; a page has at most so many bytes and those of one entry, or of what a store looks at at once. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Of one search: processor time of the matching alone, which is what holds others up. */
const MATCHING_MS = 2_000;
const SLICE_MS = 10;

export interface Reading {
  readonly filter: LogFilter;
  /** Absent: every entry matches. */
  readonly matches?: Matcher;
}

/** As LogStore.query(), and a mark where entries were removed. Throws `timeout` for a search that takes too long. */
export async function read(logStore: LogStore, reading: Reading): Promise<LogEntry[]> {
  const { filter } = reading;
  const found = await entriesOf(logStore, reading);
  const isAtBeginning = filter.oldestFirst === true || (isShort(found, filter.lines) && bytesOf(found) < MOST_BYTES);
  const mark = isAtBeginning ? await removedMark(logStore, filter) : null;
  // What retention took meanwhile was found before.
  if (mark === null || mark.seq >= (found[0]?.seq ?? Infinity)) return found;
  return filter.oldestFirst === true && filter.lines > 0 ? [mark, ...found].slice(0, filter.lines) : [mark, ...found];
}

/** Everything after a cursor that is there now, in pages, oldest first; each with the seq up to which it has read. */
export async function* readAfter(
  logStore: LogStore,
  { filter, matches }: Reading,
  cursor: number,
): AsyncGenerator<{ readonly entries: LogEntry[]; readonly seq: number }> {
  const clock = matches === undefined ? null : new MatchingClock(matches);
  const mark = await removedMark(logStore, { ...filter, afterSeq: cursor });
  if (mark !== null) yield { entries: [mark], seq: mark.seq };
  for await (const page of pagesAfter(logStore, { ...filter, afterSeq: mark?.seq ?? cursor })) {
    const entries = clock === null ? page : await clock.matching(page);
    yield { entries, seq: page.at(-1)?.seq ?? cursor };
  }
}

async function entriesOf(logStore: LogStore, { filter, matches }: Reading): Promise<LogEntry[]> {
  const { lines } = filter;
  if (matches === undefined) return logStore.query({ ...filter, mostBytes: MOST_BYTES });
  const clock = new MatchingClock(matches);
  const pages: LogEntry[][] = [];
  let [count, bytes] = [0, 0];
  const isOldestFirst = filter.oldestFirst === true;
  for await (const page of isOldestFirst ? pagesAfter(logStore, filter) : pagesBefore(logStore, filter)) {
    const found = await clock.matching(page);
    if (isOldestFirst) pages.push(found);
    else pages.unshift(found);
    count += found.length;
    bytes += bytesOf(found);
    if ((lines > 0 && count >= lines) || bytes >= MOST_BYTES) break;
  }
  const found = pages.flat();
  if (lines === 0) return found;
  return isOldestFirst ? found.slice(0, lines) : found.slice(-lines);
}

async function* pagesAfter(logStore: LogStore, filter: LogFilter): AsyncGenerator<LogEntry[]> {
  let afterSeq = filter.afterSeq ?? 0;
  for (;;) {
    const page = await logStore.query({ ...filter, lines: PAGE, oldestFirst: true, afterSeq });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    afterSeq = page.at(-1)?.seq ?? afterSeq;
  }
}

async function* pagesBefore(logStore: LogStore, filter: LogFilter): AsyncGenerator<LogEntry[]> {
  let before: Pick<LogFilter, 'beforeSeq'> = {};
  for (;;) {
    const page = await logStore.query({ ...filter, ...before, lines: PAGE });
    if (page.length > 0) yield page;
    const [oldest] = page;
    if (page.length < PAGE || oldest === undefined) return;
    before = { beforeSeq: oldest.seq };
  }
}

function isShort(found: readonly LogEntry[], lines: number): boolean {
  return lines === 0 || found.length < lines;
}

function bytesOf(found: readonly LogEntry[]): number {
  return found.reduce((sum, { message }) => sum + message.length, 0);
}

class MatchingClock {
  readonly #matches: Matcher;
  #spentMs = 0;

  constructor(matches: Matcher) {
    this.#matches = matches;
  }

  /** Lets others go on again and again. */
  async matching(page: readonly LogEntry[]): Promise<LogEntry[]> {
    const found: LogEntry[] = [];
    let from = performance.now();
    for (const entry of page) {
      const spent = performance.now() - from;
      if (this.#spentMs + spent > MATCHING_MS) throw tooSlow();
      if (spent > SLICE_MS) {
        this.#spentMs += spent;
        await setImmediate();
        from = performance.now();
      }
      if (this.#matches(entry.message)) found.push(entry);
    }
    this.#spentMs += performance.now() - from;
    return found;
  }
}

function tooSlow(): PlatformError {
  return new PlatformError('timeout', 'The search takes too long.', {
    hint: 'Look at less (since, until, process, unit), or search for a text in place of a regular expression.',
  });
}
