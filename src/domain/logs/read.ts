/** Reading a log in pages: what a filter cannot say to the store is matched here, within a bound of time. */
import { setImmediate } from 'node:timers/promises';
import { PlatformError } from '../errors.ts';
import type { LogEntry, LogFilter } from './entry.ts';
import type { LogStore } from './log-store.ts';
import type { Matcher } from './matcher.ts';

const PAGE = 1_000;
/** Of one search: processor time of the matching alone, which is what holds others up. */
const MATCHING_MS = 2_000;
const SLICE_MS = 10;

export interface Reading {
  readonly filter: LogFilter;
  /** Absent: every entry matches. */
  readonly matches?: Matcher;
}

/** As LogStore.query(). Throws `timeout` for a search that takes too long. */
export async function read(logStore: LogStore, { filter, matches }: Reading): Promise<LogEntry[]> {
  if (matches === undefined) return logStore.query(filter);
  const clock = new MatchingClock(matches);
  if (filter.oldestFirst === true) {
    const found: LogEntry[] = [];
    for await (const page of pagesAfter(logStore, filter)) {
      found.push(...(await clock.matching(page)));
      if (filter.lines > 0 && found.length >= filter.lines) return found.slice(0, filter.lines);
    }
    return found;
  }
  const pages: LogEntry[][] = [];
  let count = 0;
  for await (const page of pagesBefore(logStore, filter)) {
    const found = await clock.matching(page);
    pages.unshift(found);
    count += found.length;
    if (filter.lines > 0 && count >= filter.lines) break;
  }
  const found = pages.flat();
  return filter.lines > 0 ? found.slice(-filter.lines) : found;
}

/** Everything after a cursor that is there now, in pages, oldest first; each with the seq up to which it has read. */
export async function* readAfter(
  logStore: LogStore,
  { filter, matches }: Reading,
  cursor: number,
): AsyncGenerator<{ readonly entries: LogEntry[]; readonly seq: number }> {
  const clock = matches === undefined ? null : new MatchingClock(matches);
  for await (const page of pagesAfter(logStore, { ...filter, afterSeq: cursor })) {
    const entries = clock === null ? page : await clock.matching(page);
    yield { entries, seq: page.at(-1)?.seq ?? cursor };
  }
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
