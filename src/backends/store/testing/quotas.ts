import { expect } from 'vitest';
import { reserveApp, reserveUnits, UNLIMITED } from '../../../domain/quotas/quota.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { app, populate, rollout, unit } from './records.ts';

export const quotaCases: StoreCases = {
  'distinguishes no limit that was set from none that was set': async (store) => {
    await populate(store, 'shop');
    expect([await store.userLimit('ann@example.com'), await store.appLimit('shop')]).toEqual([undefined, undefined]);
    await store.transact(async (tx) => {
      await tx.setUserLimit('ann@example.com', 3);
      await tx.setAppLimit('shop', 0);
    });
    expect([await store.userLimit('ann@example.com'), await store.appLimit('shop')]).toEqual([3, 0]);
    await store.transact(async (tx) => {
      await tx.setUserLimit('ann@example.com', null);
      await tx.setAppLimit('shop', null);
    });
    expect([await store.userLimit('ann@example.com'), await store.appLimit('shop')]).toEqual([null, null]);
    expect(await store.userLimit('bob@example.com')).toBeUndefined();
  },

  'belong to a user and an app that are there, and go with the app': async (store) => {
    await populate(store, 'shop');
    await expectError(
      store.transact((tx) => tx.setUserLimit('eve@example.com', 1)),
      'user.not_found',
    );
    await expectError(
      store.transact((tx) => tx.setAppLimit('blog', 1)),
      'app.not_found',
    );
    await store.transact((tx) => tx.setAppLimit('shop', 1));
    await store.transact((tx) => tx.deleteApp('shop'));
    expect(await store.appLimit('shop')).toBeUndefined();
  },

  'counts the apps of an owner, those on their way out included': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      await tx.insertApp(app('bobs', { owner: 'bob@example.com' }));
      await tx.updateApp('blog', { removing: true });
    });
    const owned = (email: string) => store.appsOwned(email);
    expect([await owned('ann@example.com'), await owned('bob@example.com'), await owned('x')]).toEqual([2, 1, 0]);
    await store.transact((tx) => tx.deleteApp('blog'));
    expect(await owned('ann@example.com')).toBe(1);
  },

  'of 50 at once with 3 left makes exactly 3': async (store, { again }) => {
    const stores = [store, await again()];
    await populate(store, 'first', 'second');
    await store.transact((tx) => tx.setUserLimit('ann@example.com', 5));
    const create = (number: number) =>
      stores[number % 2]?.transact(async (tx) => {
        await reserveApp(tx, 'ann@example.com', UNLIMITED);
        await tx.insertApp(app(`app-${number}`));
      });
    const done = await Promise.allSettled(Array.from({ length: 50 }, (_, number) => create(number)));
    const refused = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(refused).toHaveLength(47);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'quota.exceeded' });
    expect(await store.appsOwned('ann@example.com')).toBe(5);
  },

  'an owner who goes at the same time leaves no app behind': async (store, { again }) => {
    const other = await again();
    await populate(store);
    const goes = store.transact(async (tx) => {
      if ((await tx.apps()).some(({ owner }) => owner === 'bob@example.com')) throw new Error('owns apps');
      await tx.deleteUser('bob@example.com');
    });
    const creates = other.transact(async (tx) => {
      await reserveApp(tx, 'bob@example.com', UNLIMITED);
      await tx.insertApp(app('bobs', { owner: 'bob@example.com' }));
    });
    const [gone, created] = await Promise.allSettled([goes, creates]);
    expect([gone.status, created.status].sort()).toEqual(['fulfilled', 'rejected']);
    expect(await store.appsOwned('bob@example.com')).toBe((await store.user('bob@example.com')) === null ? 0 : 1);
  },

  'of units counts those that serve, and lets an app keep what it has': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertRollout(rollout('aaaaaaaaaaaa', 'shop'));
      for (const index of [0, 1, 2]) await tx.insertUnit(unit('shop', index));
      await tx.insertUnit(unit('shop', 3, { rollout: 'bbbbbbbbbbbb' }));
      await tx.updateApp('shop', { rollout: 'aaaaaaaaaaaa' });
      await tx.setAppLimit('shop', 2);
    });
    const reserve = (count: number) => store.transact((tx) => reserveUnits(tx, 'shop', count, UNLIMITED));
    await reserve(2);
    await reserve(3);
    await expect(reserve(4)).rejects.toMatchObject({
      code: 'quota.exceeded',
      details: { available: 0, requested: 1 },
    });
  },
};
