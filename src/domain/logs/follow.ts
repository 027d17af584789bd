/** Following a log: what is there, then every new entry, each once and in order. */
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import { Turns } from '../../lib/turns.ts';
import type { LogEntry, LogFilter } from './entry.ts';
import type { LogStore } from './log-store.ts';
import { beginning, isSearch, readAfter } from './read.ts';
import type { Tails } from './tail.ts';
import { wantedBy } from './wanted.ts';

/** What a follower begins with may be much: few at a time have it in memory. Searches may take seconds, so they have turns of their own. */
const LINES = { reads: new Turns(1), searches: new Turns(4) };
/** One beginning of each caller at a time, so that those who begin many leave turns to others. */
const own = new KeyedQueue();

function begun<T>(filter: LogFilter, work: () => Promise<T>): Promise<T> {
  const line = isSearch(filter) ? 'searches' : 'reads';
  return own.run(`${line} of ${filter.by ?? ''}`, () => LINES[line].run(work));
}

interface FollowDeps {
  readonly logStore: LogStore;
  readonly tails: Tails;
  readonly isAllowed: () => Promise<boolean>;
  readonly recheckMs: number;
}

/**
 * Followers hold no entries of their own: those who keep up share the newest, and who does not reads on from the store at its own
 * pace, so a slow one costs neither memory nor the others anything.
 */
export async function* followEntries(
  deps: FollowDeps,
  { afterSeq, ...filter }: LogFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly LogEntry[]> {
  const { logStore, isAllowed, recheckMs } = deps;
  const over = new AbortController();
  const end = (): void => over.abort();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  // An app that is gone says nothing more. A store that cannot be asked now is asked again.
  const stopChecking = repeatedly(recheckMs, async () => {
    if (!(await isAllowed().catch(() => true))) end();
  });
  try {
    let cursor = afterSeq;
    if (cursor === undefined) {
      // Asked for first: what comes between the two queries is in the second, or after the cursor.
      const newest = await newestSeq(logStore, filter.app);
      const first = await begun(filter, async () => (signal.aborted ? null : beginning(logStore, filter)));
      if (first === null) return;
      cursor = first.goOnAfter ?? Math.max(newest, first.entries.at(-1)?.seq ?? 0);
      yield first.entries;
    }
    yield* newEntries(deps, { filter, cursor }, over.signal);
  } finally {
    void stopChecking();
    signal.removeEventListener('abort', end);
  }
}

async function* newEntries(
  { logStore, tails, isAllowed }: FollowDeps,
  { filter, cursor: begin }: { readonly filter: LogFilter; readonly cursor: number },
  signal: AbortSignal,
): AsyncGenerator<readonly LogEntry[]> {
  const wanted = wantedBy(filter);
  let cursor = begin;
  const [tail, leave] = tails.open(filter.app, cursor);
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const chunk = isFirst ? null : await tail.next(cursor, signal);
      if (signal.aborted || !(await isAllowed())) return;
      // A pattern is looked for by the store, which can do that beside everything else.
      if (chunk !== null && filter.pattern === undefined) {
        const entries = chunk.pick(wanted);
        if (entries.length > 0) yield entries;
        cursor = chunk.upTo;
        continue;
      }
      const known = tail.upTo;
      for await (const { entries, seq } of readAfter(logStore, filter, cursor)) {
        // Asked after they were read: meanwhile the app may have become another one of its name.
        if (signal.aborted || !(await isAllowed())) return;
        if (entries.length > 0) yield entries;
        cursor = seq;
      }
      // What of that is not there any more will not come either.
      cursor = Math.max(cursor, known);
    }
  } finally {
    leave();
  }
}

async function newestSeq(logStore: LogStore, app: string): Promise<number> {
  const newest = await logStore.query({ app, lines: 1 });
  return newest.at(-1)?.seq ?? 0;
}
