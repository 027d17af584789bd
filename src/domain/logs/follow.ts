/** Following a log: what is there, then every new entry, each once and in order. */
import { repeatedly } from '../../lib/repeatedly.ts';
import type { LogEntry } from './entry.ts';
import type { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';
import { read, readAfter, type Reading } from './read.ts';

interface FollowDeps {
  readonly logStore: LogStore;
  readonly journal: Journal;
  readonly isAllowed: () => Promise<boolean>;
  readonly recheckMs: number;
}

/** Followers hold no entries: they remember the last seq and read on when woken, so a slow one costs no memory. */
export async function* followEntries(
  { logStore, journal, isAllowed, recheckMs }: FollowDeps,
  reading: Reading,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  const { afterSeq, ...filter } = reading.filter;
  let wake = (): void => {};
  let news = false;
  const ring = (): void => {
    news = true;
    wake();
  };
  const stop = journal.follow(filter.app, ring);
  signal.addEventListener('abort', ring);
  // An app that is gone says nothing more. A store that cannot be asked now is asked again.
  const stopChecking = repeatedly(recheckMs, async () => {
    if (!(await isAllowed().catch(() => true))) ring();
  });
  try {
    let cursor = afterSeq;
    if (cursor === undefined) {
      // Asked for first: what comes between the two queries is in the second, or after the cursor.
      const newest = await newestSeq(logStore, filter.app);
      const first = await read(logStore, { ...reading, filter });
      cursor = first.at(-1)?.seq ?? newest;
      yield first;
    } else news = true;
    while (!signal.aborted) {
      if (!news) await new Promise<void>((resolve) => (wake = resolve));
      news = false;
      if (signal.aborted || !(await isAllowed())) return;
      for await (const { entries, seq } of readAfter(logStore, { ...reading, filter }, cursor)) {
        if (entries.length > 0) yield entries;
        cursor = seq;
        if (signal.aborted) return;
      }
    }
  } finally {
    stop();
    void stopChecking();
    signal.removeEventListener('abort', ring);
  }
}

async function newestSeq(logStore: LogStore, app: string): Promise<number> {
  const newest = await logStore.query({ app, lines: 1 });
  return newest.at(-1)?.seq ?? 0;
}
