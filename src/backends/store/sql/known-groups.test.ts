import { afterEach, beforeEach, expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COPY_SEALER, copyOfEmpty } from '../../../../test/support/empty-databases.ts';
import type { Store } from '../../../domain/store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { populate, unit } from '../testing/records.ts';
import { createSqlStore } from './index.ts';
import { KnownGroups } from './known-groups.ts';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-store-'));
  store = await createSqlStore(
    { kind: 'sqlite', file: await copyOfEmpty('tancho.db', folder) },
    { sealer: COPY_SEALER, logger: SILENT },
  );
  await populate(store, 'blog', 'shop');
  await store.transact(async (tx) => {
    for (const one of [unit('shop', 1), unit('shop', 0), unit('blog', 0)]) await tx.insertUnit(one);
  });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

it('of what has not changed since it was read the same objects are given, of what has new ones', async () => {
  const [apps, units] = [await store.apps(), await store.allUnits()];
  await store.transact((tx) => tx.updateApp('blog', { description: 'new' }));
  await store.transact((tx) => tx.updateUnit(units[0]?.id ?? '', { exits: 3 }));
  const [nextApps, nextUnits] = [await store.apps(), await store.allUnits()];
  expect(nextApps.map((app, at) => app === apps[at])).toEqual([false, true]);
  expect(nextApps[0]?.description).toBe('new');
  expect(nextUnits.map(({ app, index }) => `${app}/${index}`)).toEqual(['blog/0', 'shop/0', 'shop/1']);
  expect(nextUnits.map((one, at) => one === units[at])).toEqual([false, true, true]);
  expect(nextUnits[0]?.exits).toBe(3);
});

it('what a transaction saw that was undone is not given to others', async () => {
  await store.apps();
  const undone = store.transact(async (tx) => {
    await tx.updateApp('shop', { description: 'undone' });
    expect((await tx.apps()).at(-1)?.description).toBe('undone');
    throw new Error('undo it');
  });
  await expect(undone).rejects.toThrow('undo it');
  expect((await store.apps()).at(-1)?.description).not.toBe('undone');
});

it('what is gone is forgotten, by a reading of all', () => {
  const made: string[] = [];
  const known = new KnownGroups((text) => (made.push(text), [text]));
  known.of(
    [
      { name: 'a', text: '1' },
      { name: 'b', text: '2' },
    ],
    true,
  );
  known.of([{ name: 'a', text: '1' }], false);
  expect(known.of([{ name: 'b', text: '2' }], true)).toEqual(['2']);
  known.of([{ name: 'a', text: '1' }], true);
  expect(made).toEqual(['1', '2', '1']);
});
