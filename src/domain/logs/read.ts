/** Reading a log: within a bound of bytes and of time, and with what is missing said in its place. */
import type { LogEntry, LogFilter } from './entry.ts';
import type { LogStore, Searched } from './log-store.ts';
import { removedMark } from './removed-mark.ts';
import { stopMark } from './stop-mark.ts';

const PAGE = 1_000;
/** Of one answer; a page has at most so many bytes and those of one entry, or of what a store looks at at once. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Of one search. */
const SEARCH_MS = 5_000;
/** Of one page for who follows, who is told of what is found in between. */
const FOLLOWED_MS = 1_000;

/** As LogStore.query(), with a mark where entries were removed, and one where a search has stopped because it took too long. */
export async function read(
  logStore: Pick<LogStore, 'search' | 'removed'>,
  filter: LogFilter,
  searchMs = SEARCH_MS,
): Promise<LogEntry[]> {
  const { entries: found, stoppedAt } = await search(logStore, filter, searchMs);
  if (stoppedAt !== null) {
    const mark = stopMark(filter, stoppedAt);
    return filter.oldestFirst === true ? [...found, mark] : [mark, ...found];
  }
  const isAtBeginning = filter.oldestFirst === true || (isShort(found, filter.lines) && bytesOf(found) < MOST_BYTES);
  const mark = isAtBeginning ? await removedMark(logStore, filter) : null;
  // What retention took meanwhile was found before.
  if (mark === null || mark.seq >= (found[0]?.seq ?? Infinity)) return found;
  return filter.oldestFirst === true && filter.lines > 0 ? [mark, ...found].slice(0, filter.lines) : [mark, ...found];
}

/** Only a search can take long: what is not looked for is found at once. */
async function search(logStore: Pick<LogStore, 'search'>, filter: LogFilter, searchMs: number): Promise<Searched> {
  return logStore.search({ ...filter, mostBytes: MOST_BYTES }, isSearch(filter) ? searchMs : Infinity);
}

function isSearch({ contains, pattern }: LogFilter): boolean {
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
    const page = { ...filter, lines: PAGE, oldestFirst: true, afterSeq: seq };
    const { entries, stoppedAt } = await logStore.search(page, isSearch(filter) ? FOLLOWED_MS : Infinity);
    const upTo = stoppedAt ?? entries.at(-1)?.seq ?? seq;
    if (upTo > seq) yield { entries, seq: upTo };
    if (stoppedAt === null && entries.length < PAGE) return;
    seq = upTo;
  }
}

function isShort(found: readonly LogEntry[], lines: number): boolean {
  return lines === 0 || found.length < lines;
}

function bytesOf(found: readonly LogEntry[]): number {
  return found.reduce((sum, { message }) => sum + message.length, 0);
}
