import { expect, vi } from 'vitest';
import type { StoreCases } from './case.ts';

const LONG_MS = 60_000;

export const leaseCases: StoreCases = {
  'has one owner at a time': async (store, { again }) => {
    const other = await again();
    expect(await store.lease('app:shop', 'one', LONG_MS)).toBe(true);
    expect(await other.lease('app:shop', 'two', LONG_MS)).toBe(false);
    expect(await store.lease('app:shop', 'one', LONG_MS)).toBe(true);
    expect(await other.lease('app:blog', 'two', LONG_MS)).toBe(true);
  },

  'is given to one of many who ask': async (store, { again }) => {
    const stores = [store, await again()];
    const asked = Array.from({ length: 20 }, (_, number) =>
      stores[number % 2]?.lease('app:shop', `owner-${number}`, LONG_MS),
    );
    expect((await Promise.all(asked)).filter((held) => held)).toHaveLength(1);
  },

  'is free again when its owner gives it back': async (store) => {
    await store.lease('app:shop', 'one', LONG_MS);
    await store.releaseLease('app:shop', 'two');
    expect(await store.lease('app:shop', 'two', LONG_MS)).toBe(false);
    await store.releaseLease('app:shop', 'one');
    await store.releaseLease('app:shop', 'one');
    expect(await store.lease('app:shop', 'two', LONG_MS)).toBe(true);
  },

  'is taken over when nobody renews it': async (store, { again }) => {
    const other = await again();
    expect(await store.lease('app:shop', 'dead', 60)).toBe(true);
    expect(await other.lease('app:shop', 'heir', LONG_MS)).toBe(false);
    await vi.waitFor(
      async () => {
        expect(await other.lease('app:shop', 'heir', LONG_MS)).toBe(true);
      },
      { timeout: 5_000, interval: 10 },
    );
    expect(await store.lease('app:shop', 'dead', LONG_MS)).toBe(false);
  },

  'lasts as long as it is renewed': async (store) => {
    expect(await store.lease('app:shop', 'one', 40)).toBe(true);
    expect(await store.lease('app:shop', 'one', LONG_MS)).toBe(true);
    const end = Date.now() + 60;
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(end), { interval: 5 });
    expect(await store.lease('app:shop', 'two', LONG_MS)).toBe(false);
  },
};
