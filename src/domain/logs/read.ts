/** Reading a log: within a bound of bytes and of time, and with what is missing said in its place. */
import { bytesOf } from './chunk.ts';
import type { LogEntry, LogFilter } from './entry.ts';
import type { LogStore, Searched } from './log-store.ts';
import { removedMark } from './removed-mark.ts';
import { stopMark } from './stop-mark.ts';

/** Of one page for who follows: little, for each who waits until it can be sent holds it. */
const PAGE = 500;
const PAGE_BYTES = 64 * 1024;
/** What a follower begins with at once; what is more comes in pages. */
const BEGINNING_BYTES = 256 * 1024;
/** Of one answer; it has at most so many bytes and those of one entry. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Of one search. */
const SEARCH_MS = 5_000;
/** Of one page for who follows, who gets what is found after each page. */
const FOLLOWED_MS = 1_000;

interface Found {
  /** What is missing there, or was not looked at. */
  readonly mark: LogEntry | null;
  readonly entries: LogEntry[];
}

/** As LogStore.query(), with a mark where entries were removed, and one where a search has stopped because it took too long. */
export async function read(
  logStore: Pick<LogStore, 'search' | 'removed'>,
  filter: LogFilter,
  searchMs = SEARCH_MS,
): Promise<LogEntry[]> {
  const { mark, entries } = await find(logStore, filter, searchMs);
  if (mark === null) return entries;
  const isForward = filter.oldestFirst === true;
  if (isForward && mark.seq >= (entries.at(-1)?.seq ?? 0)) return [...entries, mark];
  return isForward && filter.lines > 0 ? [mark, ...entries].slice(0, filter.lines) : [mark, ...entries];
}

/** What one who follows sees first; where that is much, only how it begins, and the seq after which the rest is read in pages. */
export async function beginning(
  logStore: Pick<LogStore, 'search' | 'removed'>,
  filter: LogFilter,
): Promise<{ readonly entries: LogEntry[]; readonly goOnAfter: number | null }> {
  const { mark, entries } = await find(logStore, filter, SEARCH_MS);
  const marks = mark === null ? [] : [mark];
  const first = entries[0];
  if (first === undefined || bytesOf(entries) <= BEGINNING_BYTES)
    return { entries: [...marks, ...entries], goOnAfter: null };
  return { entries: marks, goOnAfter: first.seq - 1 };
}

async function find(
  logStore: Pick<LogStore, 'search' | 'removed'>,
  filter: LogFilter,
  searchMs: number,
): Promise<Found> {
  const { entries, stoppedAt } = await search(logStore, filter, searchMs);
  if (stoppedAt !== null) return { mark: stopMark(filter, stoppedAt), entries };
  const isAtBeginning =
    filter.oldestFirst === true || (isShort(entries, filter.lines) && bytesOf(entries) < MOST_BYTES);
  const mark = isAtBeginning ? await removedMark(logStore, filter) : null;
  // What retention took meanwhile was found before.
  return { mark: mark === null || mark.seq >= (entries[0]?.seq ?? Infinity) ? null : mark, entries };
}

/** Only a search can take long: what is not looked for is found at once. */
async function search(logStore: Pick<LogStore, 'search'>, filter: LogFilter, searchMs: number): Promise<Searched> {
  return logStore.search({ ...filter, mostBytes: MOST_BYTES }, isSearch(filter) ? searchMs : Infinity);
}

export function isSearch({ contains, pattern }: LogFilter): boolean {
  return contains !== undefined || pattern !== undefined;
}

/** Everything after a cursor that is there now, in pages, oldest first; each with the seq up to which it has read. */
export async function* readAfter(
  logStore: Pick<LogStore, 'search' | 'removed'>,
  filter: LogFilter,
  cursor: number,
): AsyncGenerator<{ readonly entries: LogEntry[]; readonly seq: number }> {
  const mark = await removedMark(logStore, { ...filter, afterSeq: cursor });
  if (mark !== null) yield { entries: [mark], seq: mark.seq };
  for (let seq = mark?.seq ?? cursor; ;) {
    const page = { ...filter, lines: PAGE, mostBytes: PAGE_BYTES, oldestFirst: true, afterSeq: seq };
    const { entries, stoppedAt } = await logStore.search(page, isSearch(filter) ? FOLLOWED_MS : Infinity);
    const upTo = stoppedAt ?? entries.at(-1)?.seq ?? seq;
    if (upTo > seq) yield { entries, seq: upTo };
    if (stoppedAt === null && entries.length < PAGE && bytesOf(entries) < PAGE_BYTES) return;
    seq = upTo;
  }
}

function isShort(found: readonly LogEntry[], lines: number): boolean {
  return lines === 0 || found.length < lines;
}
