import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openEmptyLogStore } from '../../../../test/support/empty-databases.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { entry } from '../testing/case.ts';

const BOUNDS = { lines: 10_000, bytes: 10 ** 9 };
const asked: string[] = [];
let folder: string;
let store: LogStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-drain-entries-'));
  store = await openEmptyLogStore(folder);
  await store.openDrain('all', '');
});
afterEach(async () => {
  vi.restoreAllMocks();
  asked.length = 0;
  await store.close();
  await rm(folder, { recursive: true });
});

const ofApps = (count: number, message: string): LogEntry[] =>
  Array.from({ length: count }, (_, number) => entry(message, { app: `app${number}` }));

function watchQueries(): void {
  const all = StatementSync.prototype.all;
  vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
    asked.push(this.sourceSQL);
    return all.apply(this, values);
  });
}

it('a drain of all apps that has nearly everything is not looked for in each app', async () => {
  const last = (await store.append(ofApps(600, 'old'))).at(-1);
  await store.drainSent('all', { seq: last?.seq ?? 0, reported: 0, at: '2026-03-04T05:06:07.089Z' });
  watchQueries();
  expect([await store.drainEntries('all', BOUNDS), await store.drainLag('all')]).toEqual([[], 0]);
  await store.append([...ofApps(3, 'new'), ...ofApps(3, 'newer')]);
  const looks = asked.length;
  const found = await store.drainEntries('all', BOUNDS);
  expect(found.map(({ app, message }) => `${app} ${message}`)).toEqual([
    ...['app0 new', 'app1 new', 'app2 new'],
    ...['app0 newer', 'app1 newer', 'app2 newer'],
  ]);
  expect(await store.drainLag('all')).toBe(6);
  const isLook = (text: string): boolean => /^select/.test(text);
  expect(asked.slice(0, looks).some((text) => isLook(text) && text.includes('"log_blocks"'))).toBe(true);
  expect(asked.filter((text) => isLook(text) && text.includes('"log_apps"'))).toEqual([]);
});

it('one that is far behind has the first lines of each app', async () => {
  await store.append(ofApps(600, 'first'));
  await store.append(ofApps(600, 'second'));
  const found = await store.drainEntries('all', { ...BOUNDS, lines: 700 });
  expect(found.map(({ app, message }) => `${app} ${message}`)).toEqual(
    [...ofApps(600, 'first'), ...ofApps(100, 'second')].map(({ app, message }) => `${app} ${message}`),
  );
  expect(await store.drainLag('all')).toBe(1_200);
});

it('once it has enough it looks at no app whose lines are later', async () => {
  await store.append(ofApps(600, 'line'));
  watchQueries();
  const found = await store.drainEntries('all', { ...BOUNDS, lines: 10 });
  expect(found.map(({ app }) => app)).toEqual(Array.from({ length: 10 }, (_, number) => `app${number}`));
  const looks = asked.filter((text) => text.startsWith('select') && text.includes('"log_blocks"'));
  expect(looks.length).toBeLessThan(100);
});
