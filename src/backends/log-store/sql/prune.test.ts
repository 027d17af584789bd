import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openEmptyLogStore } from '../../../../test/support/empty-databases.ts';
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { bounds, entry, messages } from '../testing/case.ts';

let folder: string;
let store: LogStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-prune-'));
  store = await openEmptyLogStore(folder);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
  await rm(folder, { recursive: true });
});

it('of many apps that are about equally large all are looked at once for some of their blocks, not for each', async () => {
  const apps = Array.from({ length: 40 }, (_, number) => `app${number}`);
  for (let block = 0; block < 3; block++) {
    for (const app of apps) await store.append([entry(`line ${block}`, { app })]);
  }
  let looks = 0;
  const all = StatementSync.prototype.all;
  vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
    if (this.sourceSQL.startsWith('select "app", "stored" from "log_apps"')) looks += 1;
    return all.apply(this, values);
  });
  expect(await store.prune(bounds({ storedBytes: 0 }))).toBe(120);
  expect(looks).toBeGreaterThan(0);
  expect(looks).toBeLessThan(10);
  for (const app of apps) expect(await messages(store, app)).toEqual([]);
});

it('apps of one size lose their oldest by turns', async () => {
  for (let block = 0; block < 4; block++) {
    for (const app of ['blog', 'shop']) await store.append([entry(`line ${block} ${'x'.repeat(200)}`, { app })]);
  }
  // Of eight blocks of some 300 bytes.
  expect(await store.prune(bounds({ storedBytes: 1_300 }))).toBe(4);
  for (const app of ['blog', 'shop'])
    expect((await messages(store, app)).map((message) => message.slice(0, 6))).toEqual(['line 2', 'line 3']);
});
