/** Use cases of logs (specification 4.1, log): everything that was logged comes out here. */
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import { AT_ONCE, CallerPlaces, countedFor } from '../at-once.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { App } from '../apps/app.ts';
import { demandApp } from '../demand-app.ts';
import { mayStill } from '../apps/may-still.ts';
import { privateValues } from '../units/private-values.ts';
import type { Store } from '../store.ts';
import type { LogEntry, LogFilter } from './entry.ts';
import { followEntries } from './follow.ts';
import type { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';
import { type LogPush, pushedEntries } from './pushed-entries.ts';
import { read } from './read.ts';
import { filterOf, type LogQuery } from './reading.ts';
import { Tails } from './tail.ts';

export interface Logs {
  /** Oldest first. A search that takes long stops, and says where in an entry of its own. */
  query(caller: Caller, app: string, query: LogQuery): Promise<LogEntry[]>;
  /**
   * First what query() gives, then every new entry in batches, until the signal fires, the app is no more, or the caller may not
   * see them any more. Errors: unavailable, for who follows many already.
   */
  follow(
    caller: Caller,
    app: string,
    query: LogQuery,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly LogEntry[]>>;
  /** Adds entries that a program hands in. Errors: app.not_found, access.denied, input.invalid, input.too_large. */
  push(caller: Caller, app: string, push: LogPush): Promise<void>;
  /** Removes the entries of an app, or of all when it is ''. Errors: access.denied, app.not_found. */
  clear(caller: Caller, app: string): Promise<void>;
}

interface LogsDeps {
  readonly store: Store;
  readonly logStore: LogStore;
  readonly journal: Journal;
  readonly act: Act;
  readonly now: () => Date;
  /** How often it is asked whether who follows a log in which nothing happens may still see it. */
  readonly recheckMs?: number;
}

const RECHECK_MS = 3_000;

export function createLogs(deps: LogsDeps): Logs {
  const { store, logStore, journal, act, now, recheckMs = RECHECK_MS } = deps;
  const following = new CallerPlaces(AT_ONCE.followedLogs, 'followed logs');
  const tails = new Tails({ logStore, journal });

  async function permitted(caller: Caller, name: string, query: LogQuery): Promise<{ app: App; filter: LogFilter }> {
    const app = await demandApp(store, name);
    demand(caller, 'app.log', { app });
    const filter = await filterOf(store, app.name, query, now());
    return { app, filter: { ...filter, by: countedFor(caller) ?? '' } };
  }

  /** Throws `too_many_requests`; the answer is to be called at the end, however often. */
  function enter(caller: Caller, signal: AbortSignal): () => void {
    const leave = following.take(caller);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    return leave;
  }

  return {
    async query(caller, appName, query) {
      const { filter } = await permitted(caller, appName, query);
      return read(logStore, filter);
    },
    async follow(caller, appName, query, signal) {
      const { app, filter } = await permitted(caller, appName, query);
      if (filter.until !== undefined || filter.beforeSeq !== undefined) {
        throw new PlatformError('input.invalid', 'A log that is followed has no end.', {
          hint: 'Leave out "until" and "before", or "follow".',
        });
      }
      const isAllowed = whileNothingChanges({ store, now }, (at) => mayStill(store, caller, 'app.log', app, at));
      const leave = enter(caller, signal);
      return leaving(followEntries({ logStore, tails, isAllowed, recheckMs }, filter, signal), leave);
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

/** Asked again with each change of anything, and each second, for what is permitted may have an end. */
function whileNothingChanges(
  { store, now }: Pick<LogsDeps, 'store' | 'now'>,
  ask: (at: string) => Promise<boolean>,
): () => Promise<boolean> {
  let known = { state: '', answer: false };
  return async () => {
    const at = now();
    const state = `${await store.version()} ${Math.floor(at.getTime() / 1_000)}`;
    if (known.state !== state) known = { state, answer: await ask(at.toISOString()) };
    return known.answer;
  };
}

async function* leaving<T>(items: AsyncIterable<T>, leave: () => void): AsyncGenerator<T> {
  try {
    yield* items;
  } finally {
    leave();
  }
}
