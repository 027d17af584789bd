import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEmptyStore } from '../../../test/support/empty-databases.ts';
import { createMemoryProvisioner, MemoryMachine } from '../../backends/provisioner/memory/memory-provisioner.ts';
import { createEngines } from '../../backends/provisioner/engines.ts';
import { app, populate, release } from '../../backends/store/testing/records.ts';
import type { Placement } from '../pools/placement.ts';
import { DEFAULT_POOL } from '../pools/pool.ts';
import type { Store } from '../store.ts';
import type { Engines } from '../units/engines.ts';
import { demandOwnEngine } from './own-engine.ts';

const LONG_MS = 60_000;

let folder = '';
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-own-engine-'));
  store = await openEmptyStore(folder);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const engines = (...names: string[]): Engines =>
  createEngines(new Map(names.map((name) => [name, createMemoryProvisioner(new MemoryMachine())])));

const starts = (names: readonly string[], several = false, owner = 'one'): Promise<string> =>
  demandOwnEngine(store, engines(...names), { owner, isOneOfSeveral: several }).then(
    () => 'started',
    (error: unknown) => (error as Error).message,
  );

async function addApp(placement: Placement | null): Promise<void> {
  await populate(store);
  await store.transact(async (tx) => {
    await tx.insertApp(app('shop'));
    await tx.insertRelease(release('shop', 1, { placement }));
    await tx.updateApp('shop', { release: 1 });
  });
}

const prod = { engine: 'prod', options: {} };

it('what a database of before has is of processes, and stays there', async () => {
  await addApp(null);
  expect(await starts(['prod'])).toBe(
    'Apps of this database (shop) are in pools of the engine process, which is not the first one of this server.',
  );
  expect(await starts(['process', 'prod'])).toBe('started');
  expect(await starts(['prod'])).toContain('(shop)');
});

it('another one is taken when nothing depends on the one before', async () => {
  await addApp(prod);
  expect(await starts(['process', 'prod'])).toBe('started');
  expect(await starts(['prod'])).toBe('started');
  await store.transact(async (tx) => {
    await tx.insertRelease(release('shop', 2, { placement: null }));
    await tx.updateApp('shop', { release: 2 });
  });
  expect(await starts(['process', 'prod'])).toContain('in pools of the engine prod');
});

it('servers that work side by side have the same', async () => {
  expect(await starts(['prod'], true)).toBe('started');
  const token = await store.lease('control:one', 'one', LONG_MS);
  expect(token).not.toBeNull();
  expect(await starts(['near', 'prod'], true, 'two')).toBe(
    'Other servers work with this database, and their first engine is prod, not near.',
  );
  expect(await starts(['prod', 'near'], true, 'two')).toBe('started');
  expect(await starts(['near'], true, 'one')).toBe('started');
});

it('of servers that start side by side on an empty database the first to say it decides', async () => {
  for (const owner of ['one', 'two']) expect(await store.lease(`control:${owner}`, owner, LONG_MS)).not.toBeNull();
  expect(await starts(['prod'], true, 'two')).toBe('started');
  expect(await starts(['near'], true, 'one')).toContain('their first engine is prod, not near.');
  expect(await starts(['prod'], true, 'one')).toBe('started');
});

it('one of several has the engines of all pools', async () => {
  await populate(store);
  await store.transact((tx) =>
    tx.insertPool({ ...DEFAULT_POOL, name: 'far', placement: { engine: 'near', options: {} } }),
  );
  expect(await starts(['prod'], true)).toBe('The pool far is on the engine near, which this server has not.');
  expect(await starts(['prod', 'near'], true)).toBe('started');
  expect(await starts(['prod'])).toBe('started');
});
