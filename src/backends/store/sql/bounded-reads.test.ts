/** What is read again and again is read once for each row, and without what is long or sealed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { COPY_SEALER, copyOfEmpty } from '../../../../test/support/empty-databases.ts';
import type { Store } from '../../../domain/store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { deploy, populate, team } from '../testing/records.ts';
import { binding, instance, service } from '../testing/services.ts';
import { createSqlStore } from './index.ts';

const LONG = 50_000;
const TEAMS = Array.from({ length: 40 }, (_, number) => `team${number}`);
let folder: string;
let file: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-reads-'));
  file = await copyOfEmpty('tancho.db', folder);
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

it('lists of services, instances and bindings decrypt nothing', async () => {
  await store.transact(async (tx) => {
    await tx.insertService(service('db'));
    await tx.insertInstance(instance('one', { teams: TEAMS }));
    await tx.insertBinding(binding('b', { vars: { URL: 'db://x' } }));
  });
  const open = vi.spyOn(COPY_SEALER, 'open');
  expect([await store.services(), await store.instances(), await store.instances('db')]).toMatchObject([
    [{ name: 'db' }],
    [{ name: 'one' }],
    [{ name: 'one' }],
  ]);
  for (const filter of [undefined, { app: 'shop' }, { instance: 'id of one' }])
    expect(await store.bindingSummaries(filter)).toMatchObject([{ id: 'b' }]);
  expect(open).not.toHaveBeenCalled();
  expect((await store.instance('one'))?.parameters).toEqual(instance('one').parameters);
  expect(open).toHaveBeenCalledTimes(1);
});

it('old deploys are found by their index, without sorting all there are', async () => {
  await store.transact(async (tx) => {
    for (let number = 10; number < 20; number++)
      await tx.insertDeploy(deploy(`00${number}`, 'shop', { state: 'done' }));
  });
  const asked: string[] = [];
  const prepare = DatabaseSync.prototype.prepare;
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, text) {
    asked.push(text);
    return prepare.call(this, text);
  });
  expect(await store.appsOfManyDeploys(5)).toEqual(['shop']);
  const old = { keep: 5, limit: 2 };
  await store.oldDeploys('shop', { ...old, which: 'logged' });
  expect(await store.oldDeploys('shop', { ...old, which: 'unnamed' })).toEqual(['0010', '0011']);
  spy.mockRestore();
  const database = new DatabaseSync(file);
  const plans = asked.flatMap((text) => database.prepare(`explain query plan ${text}`).all());
  database.close();
  const steps = plans.map(({ detail }) => String(detail));
  expect(steps.filter((step) => /^(?:SCAN|SEARCH) deploys/.test(step)).length).toBeGreaterThan(2);
  for (const step of steps)
    expect(step).not.toMatch(/TEMP B-TREE|^SCAN (?!deploys USING COVERING INDEX|value|json_each)/);
});
