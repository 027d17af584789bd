import { expect, vi } from 'vitest';
import type { Lease, Store } from '../../../domain/store.ts';
import type { StoreCases } from './case.ts';

const LONG_MS = 60_000;

async function take(store: Store, key: string, owner: string, ttlMs = LONG_MS): Promise<Lease> {
  const token = await store.lease(key, owner, ttlMs);
  if (token === null) throw new Error(`${owner} was refused ${key}`);
  return { key, token };
}

const lost = (store: Store, leases: readonly Lease[]): Promise<Lease[]> =>
  store.transact((tx) => tx.lostLeases(leases));

export const leaseCases: StoreCases = {
  'has one owner at a time': async (store, { again }) => {
    const other = await again();
    await take(store, 'app:shop', 'one');
    expect(await other.lease('app:shop', 'two', LONG_MS)).toBeNull();
    await take(store, 'app:shop', 'one');
    await take(other, 'app:blog', 'two');
  },

  'is given to one of many who ask': async (store, { again }) => {
    const stores = [store, await again()];
    const asked = Array.from({ length: 20 }, (_, number) =>
      stores[number % 2]?.lease('app:shop', `owner-${number}`, LONG_MS),
    );
    expect((await Promise.all(asked)).filter((token) => token !== null)).toHaveLength(1);
  },

  'is free again when its owner gives it back': async (store) => {
    const held = await take(store, 'app:shop', 'one');
    await store.releaseLease({ key: 'app:shop', token: held.token - 1 });
    expect(await store.lease('app:shop', 'two', LONG_MS)).toBeNull();
    await store.releaseLease(held);
    await store.releaseLease(held);
    expect(await store.renewLease(held, LONG_MS)).toBe(false);
    const next = await take(store, 'app:shop', 'two');
    await store.releaseLease(held);
    expect(await lost(store, [next])).toEqual([]);
  },

  'is taken over when nobody renews it': async (store, { again }) => {
    const other = await again();
    const takenFor = async (ttlMs: number): Promise<Lease> => {
      const lease = await take(store, 'app:shop', 'dead', ttlMs);
      const token = await other.lease('app:shop', 'heir', LONG_MS);
      if (token === null) return lease;
      // On a busy machine it may be over before the other one has asked.
      expect(ttlMs).toBeLessThan(LONG_MS);
      await other.releaseLease({ key: 'app:shop', token });
      return takenFor(ttlMs * 8);
    };
    const dead = await takenFor(60);
    await vi.waitFor(
      async () => {
        expect(await other.lease('app:shop', 'heir', LONG_MS)).not.toBeNull();
      },
      { timeout: LONG_MS, interval: 10 },
    );
    expect(await store.renewLease(dead, LONG_MS)).toBe(false);
    expect(await store.lease('app:shop', 'dead', LONG_MS)).toBeNull();
  },

  'lasts as long as it is renewed, and is renewed late where nobody has taken it': async (store) => {
    const held = await take(store, 'app:shop', 'one', 40);
    const end = Date.now() + 60;
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(end), { interval: 5 });
    expect(await store.renewLease(held, LONG_MS)).toBe(true);
    expect(await store.lease('app:shop', 'two', LONG_MS)).toBeNull();
    expect(await lost(store, [held])).toEqual([]);
  },

  'has a larger token with each owner and each key, also of one that was given back': async (store, { again }) => {
    const first = await take(store, 'app:shop', 'one');
    const second = await take(store, 'app:shop', 'one');
    const other = await take(await again(), 'app:blog', 'two');
    await store.releaseLease(second);
    await store.releaseLease(other);
    const last = await take(store, 'app:shop', 'two');
    const tokens = [first, second, other, last].map(({ token }) => token);
    expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
    expect(new Set(tokens).size).toBe(4);
    expect(await lost(store, [first, second, other, last])).toEqual([first, second, other]);
  },

  'that a transaction goes by is not taken before that has ended, and may be renewed meanwhile': async (
    store,
    { again },
  ) => {
    const other = await again();
    const held = await take(store, 'app:shop', 'dead', 1);
    const expired = Date.now() + 5;
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(expired), { interval: 5 });
    const order: string[] = [];
    let taking: Promise<unknown> = Promise.resolve();
    await store.transact(async (tx) => {
      order.length = 0;
      expect(await tx.lostLeases([held])).toEqual([]);
      taking = other.lease('app:shop', 'heir', LONG_MS).then(() => order.push('taken'));
      for (let step = 0; step < 20; step++) await tx.setting('anything');
      await tx.setSetting('by', 'dead');
      order.push('written');
    });
    await taking;
    expect(order).toEqual(['written', 'taken']);
    expect(await lost(store, [held])).toEqual([held]);
  },

  'may be renewed while a transaction goes by it, which does not run again for that': async (store, { again }) => {
    const other = await again();
    const held = await take(store, 'app:shop', 'one');
    let runs = 0;
    let renewing: Promise<boolean> = Promise.resolve(false);
    await store.transact(async (tx) => {
      runs += 1;
      await tx.setting('anything');
      renewing = other.renewLease(held, LONG_MS);
      // Where writers come one after the other it is done when this is over.
      if (store.name.includes('postgres')) expect(await renewing).toBe(true);
      expect(await tx.lostLeases([held])).toEqual([]);
      await tx.setSetting('by', 'one');
    });
    expect([runs, await renewing]).toEqual([1, true]);
  },
};
