/** Use cases of logs (specification 4.1, log): everything that was logged comes out here. */
import { repeatedly } from '../../lib/repeatedly.ts';
import { Tally } from '../../lib/tally.ts';
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { App } from '../apps/app.ts';
import { demandApp } from '../apps/demand-app.ts';
import { mayStill } from '../apps/may-still.ts';
import { privateValues } from '../env/private-values.ts';
import type { Store } from '../store.ts';
import type { LogEntry, LogFilter } from './entry.ts';
import type { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';
import { type LogPush, pushedEntries } from './pushed-entries.ts';

export interface LogQuery {
  /** Required, a whole number >= 0 (0: all that are kept); errors: log.lines_required, input.invalid. */
  readonly lines: unknown;
  readonly source?: string;
  readonly unit?: string;
}

export interface Logs {
  /** Oldest first. */
  query(caller: Caller, app: string, query: LogQuery): Promise<LogEntry[]>;
  /**
   * First what query() gives, then every new entry in batches, until the signal fires, the app is no more, or the caller may not
   * see them any more. Errors: unavailable, for who follows many already.
   */
  follow(caller: Caller, app: string, query: LogQuery, signal: AbortSignal): Promise<AsyncIterable<LogEntry[]>>;
  /** Adds entries that a program hands in. Errors: app.not_found, access.denied, input.invalid, input.too_large. */
  push(caller: Caller, app: string, push: LogPush): Promise<void>;
  /** Removes the entries of an app, or of all when it is ''. Errors: access.denied, app.not_found. */
  clear(caller: Caller, app: string): Promise<void>;
}

export interface LogsDeps {
  readonly store: Store;
  readonly logStore: LogStore;
  readonly journal: Journal;
  readonly act: Act;
  readonly now: () => Date;
  /** How often it is asked whether who follows a log in which nothing happens may still see it. */
  readonly recheckMs?: number;
}

const RECHECK_MS = 3_000;
/** By one caller at a time: each of them asks the store for every new entry. */
const MAX_FOLLOWED = 50;

export function createLogs(deps: LogsDeps): Logs {
  const { store, logStore, journal, act, now, recheckMs = RECHECK_MS } = deps;
  const following = new Tally();

  async function permitted(caller: Caller, appName: string, query: LogQuery): Promise<{ app: App; filter: LogFilter }> {
    const lines = parseLines(query.lines);
    const app = await demandApp(store, appName);
    demand(caller, 'app.log', { app });
    const filter = {
      app: app.name,
      lines,
      ...(query.source === undefined || query.source === '' ? {} : { source: query.source }),
      ...(query.unit === undefined || query.unit === '' ? {} : { unit: query.unit }),
    };
    return { app, filter };
  }

  /** Throws `unavailable` for who follows too many already; the answer is to be called at the end, however often. */
  function enter(who: string, signal: AbortSignal): () => void {
    const others = following.of(who);
    if (others >= MAX_FOLLOWED) {
      throw new PlatformError('unavailable', `You follow ${others} logs already.`, { hint: 'End some of them first.' });
    }
    const leave = following.enter(who);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    return leave;
  }

  return {
    async query(caller, appName, query) {
      const { filter } = await permitted(caller, appName, query);
      return logStore.query(filter);
    },
    async follow(caller, appName, query, signal) {
      const { app, filter } = await permitted(caller, appName, query);
      const isAllowed = (): Promise<boolean> => mayStill(store, caller, 'app.log', app, now().toISOString());
      const leave = enter(callerName(caller), signal);
      return leaving(followEntries({ logStore, journal, isAllowed, recheckMs }, filter, signal), leave);
    },
    async push(caller, appName, push) {
      const app = await demandApp(store, appName);
      demand(caller, 'app.log_push', { app });
      const redact = privateValues(await store.env(appName));
      await journal.append(pushedEntries(app.name, push, now()), redact);
    },
    async clear(caller, appName) {
      const target = appName === '' ? 'logs' : `app:${appName}`;
      await act(caller, 'app.log_clear', {}, { target }, async () => {
        const apps = appName === '' ? await store.apps() : [await demandApp(store, appName)];
        for (const app of apps) await logStore.removeApp(app.name);
      });
    },
  };
}

function parseLines(lines: unknown): number {
  if (lines === undefined || lines === null || lines === '') {
    throw new PlatformError('log.lines_required', 'Parameter "lines" is mandatory.', {
      hint: 'Ask for example with ?lines=100.',
    });
  }
  const count = typeof lines === 'number' ? lines : /^\d+$/.test(String(lines)) ? Number(lines) : Number.NaN;
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new PlatformError('input.invalid', 'Parameter "lines" must be an integer.', {
      hint: 'Give a whole number; 0 asks for everything that is kept.',
    });
  }
  return count;
}

async function* leaving<T>(items: AsyncIterable<T>, leave: () => void): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    leave();
  }
}

/** Followers hold no entries: they remember the last seq and read on when woken, so a slow one costs no memory. */
async function* followEntries(
  deps: { logStore: LogStore; journal: Journal; isAllowed: () => Promise<boolean>; recheckMs: number },
  filter: LogFilter,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  let wake = (): void => {};
  let news = false;
  const ring = (): void => {
    news = true;
    wake();
  };
  const stop = deps.journal.follow(filter.app, ring);
  signal.addEventListener('abort', ring);
  // An app that is gone says nothing more. A store that cannot be asked now is asked again.
  const stopChecking = repeatedly(deps.recheckMs, async () => {
    if (!(await deps.isAllowed().catch(() => true))) ring();
  });
  try {
    // Asked for first: what comes between the two queries is in the second, or after the cursor.
    const newest = await newestSeq(deps.logStore, filter.app);
    const first = await deps.logStore.query(filter);
    let cursor = first.at(-1)?.seq ?? newest;
    yield first;
    while (!signal.aborted) {
      if (!news) await new Promise<void>((resolve) => (wake = resolve));
      news = false;
      if (signal.aborted || !(await deps.isAllowed())) return;
      const entries = await deps.logStore.query({ ...filter, lines: 0, afterSeq: cursor });
      cursor = entries.at(-1)?.seq ?? cursor;
      if (entries.length > 0) yield entries;
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
