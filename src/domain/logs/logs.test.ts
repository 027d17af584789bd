import { expect, it } from 'vitest';
import { SILENT } from '../../lib/logger.ts';
import type { App } from '../apps/app.ts';
import { PLATFORM } from '../caller.ts';
import type { Store } from '../store.ts';
import type { LogEntry, LogFilter } from './entry.ts';
import { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';
import { createLogs } from './logs.ts';

it('a follower misses nothing that is stored while it begins', async () => {
  const stored: LogEntry[] = [];
  const store = (source: string): void => {
    const seq = stored.length + 1;
    stored.push({ seq, at: '', app: 'shop', source, unit: '', unitId: '', release: 0, message: `${seq}` });
  };
  store('worker');
  const matches = (filter: LogFilter) => (entry: LogEntry) =>
    (filter.source === undefined || entry.source === filter.source) && entry.seq > (filter.afterSeq ?? 0);
  let asked = 0;
  const query = (filter: LogFilter): Promise<LogEntry[]> => {
    const found = stored.filter(matches(filter)).slice(filter.lines === 0 ? 0 : -filter.lines);
    asked += 1;
    if (filter.source === 'web' && filter.afterSeq === undefined) store('web');
    return Promise.resolve(found);
  };
  const logStore = { query, append: () => Promise.resolve() } as Partial<LogStore> as LogStore;
  const journal = new Journal({ logStore, now: () => new Date(), logger: SILENT });
  const app = { name: 'shop', teams: [], removing: false } as Partial<App> as App;
  const logs = createLogs({ store: { app: () => Promise.resolve(app) } as Partial<Store> as Store, logStore, journal });

  const stop = new AbortController();
  const batches = await logs.follow(PLATFORM, 'shop', { lines: 10, source: 'web' }, stop.signal);
  const iterator = batches[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toEqual([]);
  const next = iterator.next();
  await journal.note('shop', 'wakes the follower');
  expect((await next).value).toMatchObject([{ source: 'web', message: '2' }]);
  expect(asked).toBeGreaterThanOrEqual(3);
  stop.abort();
  await iterator.return?.();
});
