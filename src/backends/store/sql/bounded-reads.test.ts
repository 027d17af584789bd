/** What is read again and again is read once for each row, and without what is long or sealed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { COPY_SEALER, copyOfEmpty } from '../../../../test/support/empty-databases.ts';
import type { Store } from '../../../domain/store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { populate, team } from '../testing/records.ts';
import { binding, instance, service } from '../testing/services.ts';
import { createSqlStore } from './index.ts';

const LONG = 50_000;
const TEAMS = Array.from({ length: 40 }, (_, number) => `team${number}`);
let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-reads-'));
  const file = await copyOfEmpty('tancho.db', folder);
  store = await createSqlStore({ kind: 'sqlite', file }, { sealer: COPY_SEALER, logger: SILENT });
  await populate(store, 'shop');
  await store.transact(async (tx) => {
    for (const name of TEAMS) await tx.insertTeam(team(name));
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
  await rm(folder, { recursive: true });
});

/** Characters that the database gives meanwhile. */
async function charactersOf(read: () => Promise<unknown>): Promise<number> {
  let sum = 0;
  const all = StatementSync.prototype.all;
  const spy = vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync, ...values) {
    const rows = all.apply(this, values);
    for (const row of rows) for (const value of Object.values(row)) sum += typeof value === 'string' ? value.length : 0;
    return rows;
  });
  await read();
  spy.mockRestore();
  return sum;
}

it('an app of many teams is read once', async () => {
  await store.transact((tx) => tx.updateApp('shop', { teams: TEAMS, customData: { long: 'x'.repeat(LONG) } }));
  expect(await charactersOf(() => store.app('shop'))).toBeLessThan(2 * LONG);
  expect(await charactersOf(() => store.apps())).toBeLessThan(4 * LONG);
  expect((await store.apps())[0]?.teams).toHaveLength(TEAMS.length);
});

it('what is written about a service is read by itself', async () => {
  await store.transact(async (tx) => {
    await tx.insertService(service('db', { ownerTeams: TEAMS }));
    await tx.updateService('db', { doc: 'x'.repeat(LONG) });
  });
  expect(await charactersOf(() => Promise.all([store.services(), store.service('db')]))).toBeLessThan(LONG);
  expect(await store.serviceDoc('db')).toHaveLength(LONG);
});

it('lists of all instances and bindings decrypt nothing', async () => {
  await store.transact(async (tx) => {
    await tx.insertService(service('db'));
    await tx.insertInstance(instance('one', { teams: TEAMS }));
    await tx.insertBinding(binding('b', { vars: { URL: 'db://x' } }));
  });
  const open = vi.spyOn(COPY_SEALER, 'open');
  expect([await store.instances(), await store.instances('db'), await store.allBindings()]).toMatchObject([
    [{ name: 'one' }],
    [{ name: 'one' }],
    [{ id: 'b' }],
  ]);
  expect(open).not.toHaveBeenCalled();
  expect((await store.instance('one'))?.parameters).toEqual(instance('one').parameters);
  expect(open).toHaveBeenCalledTimes(1);
});
