/** The logs of apps in memory, which can be followed. */
import { demand } from '../../src/domain/access.ts';
import type { LogEntry } from '../../src/domain/logs/entry.ts';
import type { Logs } from '../../src/domain/logs/logs.ts';
import type { Memory } from './memory-state.ts';

function select(memory: Memory, app: string, query: Parameters<Logs['query']>[2]): LogEntry[] {
  const matching = memory.entries.filter(
    (entry) =>
      entry.app === app &&
      (!query.source || entry.source === query.source) &&
      (!query.unit || entry.unit === query.unit),
  );
  return Number(query.lines) === 0 ? matching : matching.slice(-Number(query.lines));
}

export function logsIn(memory: Memory): Logs {
  return {
    push: async (caller, app) => void memory.allowed(caller, 'app.log_push', app),
    clear: async (caller) => demand(caller, 'app.log_clear'),
    async query(caller, app, query) {
      memory.allowed(caller, 'app.log', app);
      return select(memory, app, query);
    },
    async follow(caller, app, query, signal) {
      memory.allowed(caller, 'app.log', app);
      return followEntries(
        select(memory, app, query),
        () => memory.entries.filter((entry) => entry.app === app),
        memory.listeners,
        signal,
      );
    },
  };
}

async function* followEntries(
  first: LogEntry[],
  all: () => LogEntry[],
  listeners: Set<() => void>,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  let seen = all().at(-1)?.seq ?? 0;
  yield first;
  while (!signal.aborted) {
    const fresh = all().filter((entry) => entry.seq > seen);
    seen = fresh.at(-1)?.seq ?? seen;
    if (fresh.length > 0) yield fresh;
    else await changed(listeners, signal);
  }
}

function changed(listeners: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      listeners.delete(done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    listeners.add(done);
    signal.addEventListener('abort', done);
  });
}
