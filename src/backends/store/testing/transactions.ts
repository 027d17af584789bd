import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { PlatformError } from '../../../domain/errors.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { app, deploy, event, populate, release, unit, variable } from './records.ts';

export const transactionCases: StoreCases = {
  'says what keeps it all, with its version': async (store) => {
    const { name, version } = await store.product();
    expect(name).toMatch(/^(?:SQLite|PostgreSQL)$/);
    expect(version).toMatch(/^\d+\.\d+/);
  },

  'says how much it takes, which grows with what is in it': async (store) => {
    const before = await store.bytes();
    expect(before).toBeGreaterThan(10_000);
    await populate(store, 'shop');
    await store.transact((tx) => tx.setEnv('shop', [variable('A', randomBytes(2_000_000).toString('hex'))]));
    expect((await store.bytes()) - before).toBeGreaterThan(2_000_000);
  },

  'leaves nothing when the work fails': async (store) => {
    await populate(store, 'shop');
    const failing = store.transact(async (tx) => {
      await tx.insertApp(app('blog'));
      await tx.updateApp('shop', { deploys: 9, teams: ['blue'] });
      await tx.setEnv('shop', [variable('A', '1')]);
      await tx.insertRelease(release('shop', 1));
      await tx.insertUnit(unit('shop', 0));
      await tx.insertDeploy(deploy('0001', 'shop'));
      await tx.insertEvent(event('e'));
      await tx.setSetting('k', 'v');
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await store.apps()).toEqual([app('shop')]);
    expect(await store.env('shop')).toEqual([]);
    expect(await store.releases('shop', 1)).toEqual([]);
    expect(await store.allUnits()).toEqual([]);
    expect(await store.deploy('0001')).toBeNull();
    expect(await store.events(1)).toEqual([]);
    expect(await store.setting('k')).toBeNull();
  },

  'has another version after each commit, here and elsewhere, and the same one as long as nothing happens': async (
    store,
    { again },
  ) => {
    const other = await again();
    await populate(store, 'shop');
    const seen = new Set<string>();
    for (const writer of [store, other, store]) {
      seen.add(await other.version());
      await writer.transact((tx) => tx.setSetting('k', String(seen.size)));
    }
    seen.add(await other.version());
    expect(seen.size).toBe(4);
    const before = await store.version();
    await store.apps();
    expect(await store.version()).toBe(before);
  },

  'answers what the work answers, and passes its errors on': async (store) => {
    expect(await store.transact(async () => 42)).toBe(42);
    const refusal = new PlatformError('access.denied', 'No.');
    await expect(store.transact(() => Promise.reject(refusal))).rejects.toBe(refusal);
  },

  'reads its own writes, and nobody else does before the end': async (store, { again }) => {
    const other = await again();
    await populate(store);
    await store.transact(async (tx) => {
      await tx.insertApp(app('shop'));
      expect(await tx.app('shop')).toEqual(app('shop'));
      expect(await other.app('shop')).toBeNull();
    });
    expect(await other.app('shop')).toEqual(app('shop'));
  },

  'loses no update among many at the same time': async (store, { again }) => {
    await populate(store, 'shop');
    const stores = [store, await again()];
    const increments = Array.from({ length: 40 }, (_, number) =>
      stores[number % 2]?.transact(async (tx) => {
        const before = await tx.app('shop');
        await tx.updateApp('shop', { deploys: (before?.deploys ?? 0) + 1 });
        await tx.insertEvent(event(`e${number}`));
      }),
    );
    await Promise.all(increments);
    expect((await store.app('shop'))?.deploys).toBe(40);
    expect(await store.events(100)).toHaveLength(40);
  },

  'does not let two break a rule together that each keeps alone': async (store, { again }) => {
    const stores = [store, await again()];
    await populate(store);
    const limited = (name: string, number: number) =>
      stores[number % 2]?.transact(async (tx) => {
        if ((await tx.apps()).length >= 3) throw new PlatformError('quota.exceeded', 'Three are enough.');
        await tx.insertApp(app(name));
      });
    const names = Array.from({ length: 10 }, (_, number) => `app-${number}`);
    await Promise.allSettled(names.map(limited));
    expect(await store.apps()).toHaveLength(3);
  },

  'is not mixed with reads and writes around it': async (store) => {
    await populate(store, 'shop');
    const seen: (number | undefined)[] = [];
    const failing = store.transact(async (tx) => {
      for (let step = 1; step <= 20; step++) await tx.updateApp('shop', { deploys: step });
      throw new Error('undone');
    });
    const around = Array.from({ length: 20 }, async () => {
      seen.push((await store.app('shop'))?.deploys);
      await store.lease('key', 'owner', 1_000);
    });
    await expect(failing).rejects.toThrow('undone');
    await Promise.all(around);
    expect(new Set(seen)).toEqual(new Set([0]));
    expect(await store.lease('key', 'other', 1_000)).toBeNull();
  },

  'goes on after a refusal that the work expected': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await expectError(tx.insertApp(app('shop')), 'app.name_taken');
      await expectError(tx.insertRelease(release('shop', 7)), 'app.busy');
      await expectError(tx.addMember('red', 'ann@example.com'), 'team.member_exists');
      await tx.insertApp(app('blog'));
    });
    expect(await store.app('blog')).not.toBeNull();
  },

  'is there for the next process': async (store, { again }) => {
    await populate(store, 'shop');
    await store.transact((tx) => tx.setEnv('shop', [variable('A', 'kept')]));
    await store.close();
    const next = await again();
    expect(await next.app('shop')).toEqual(app('shop'));
    expect(await next.env('shop')).toEqual([variable('A', 'kept')]);
  },

  'answers unavailable once it is closed': async (store) => {
    await store.close();
    await store.close();
    await expectError(store.apps(), 'unavailable');
    await expectError(
      store.transact((tx) => tx.setSetting('a', 'b')),
      'unavailable',
    );
  },
};
