import { afterEach, beforeEach, expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COPY_SEALER, copyOfEmpty } from '../../../../test/support/empty-databases.ts';
import type { Store } from '../../../domain/store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { app, populate, unit } from '../testing/records.ts';
import { createSqlStore } from './index.ts';
import { flat, KnownGroups } from './known-groups.ts';

let folder: string;
let file: string;
let store: Store;
const opened = (): Promise<Store> => createSqlStore({ kind: 'sqlite', file }, { sealer: COPY_SEALER, logger: SILENT });
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-store-'));
  file = await copyOfEmpty('tancho.db', folder);
  store = await opened();
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
  expect(nextApps.map((one, at) => one === apps[at])).toEqual([false, true]);
  expect(nextApps[0]?.description).toBe('new');
  expect(nextUnits.map(({ app, index }) => `${app}/${index}`)).toEqual(['blog/0', 'shop/0', 'shop/1']);
  expect(nextUnits.map((one, at) => one === units[at])).toEqual([false, true, true]);
  expect(nextUnits[0]?.exits).toBe(3);
  const byApp = await store.unitsByApp();
  await store.transact((tx) => tx.updateUnit(nextUnits[0]?.id ?? '', { exits: 4 }));
  const next = await store.unitsByApp();
  expect([...next].map(([name, own]) => own === byApp.get(name))).toEqual([false, true]);
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

it('what comes is in its place, and what goes with something else is gone', async () => {
  await Promise.all([store.apps(), store.allUnits()]);
  await store.transact(async (tx) => {
    await tx.insertApp(app('mail'));
    await tx.insertUnit(unit('mail', 0));
  });
  await store.transact((tx) => tx.deleteApp('blog'));
  expect((await store.apps()).map(({ name }) => name)).toEqual(['mail', 'shop']);
  expect((await store.allUnits()).map((one) => `${one.app}/${one.index}`)).toEqual(['mail/0', 'shop/0', 'shop/1']);
});

it('what others have written to the file is seen, also beside a change of its own', async () => {
  const other = await opened();
  const descriptions = async (from: Store): Promise<string[]> =>
    (await from.apps()).map(({ description }) => description);
  try {
    expect(await descriptions(store)).toEqual(await descriptions(other));
    await other.transact((tx) => tx.updateApp('blog', { description: 'theirs' }));
    await store.transact((tx) => tx.updateApp('shop', { description: 'ours' }));
    for (const one of [store, other, store]) expect(await descriptions(one)).toEqual(['theirs', 'ours']);
  } finally {
    await other.close();
  }
});

it('only what is named is made anew, and what is gone is forgotten', () => {
  const made: string[] = [];
  const known = new KnownGroups((text) => (made.push(text), [text]));
  const group = (name: string, text: string) => ({ name, text });
  expect(flat(known.all([group('a', '1'), group('c', '3')]))).toEqual(['1', '3']);
  expect(flat(known.of([group('a', '1'), group('c', 'undone')]))).toEqual(['1', 'undone']);
  expect(flat(known.allButFor(['b', 'a'], [group('a', '1'), group('b', '2')]))).toEqual(['1', '2', '3']);
  expect(flat(known.allButFor(['a'], []))).toEqual(['2', '3']);
  expect(flat(known.all([group('a', '1'), group('c', '3')]))).toEqual(['1', '3']);
  expect(made).toEqual(['1', '3', 'undone', '2', '1']);
});
