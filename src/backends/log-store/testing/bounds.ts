import { expect } from 'vitest';
import { bounds, entries, entry, messages } from './case.ts';
import type { LogStoreCases } from './case.ts';

export const boundCases: LogStoreCases = {
  'removes the oldest entries over the number, per app': async (store) => {
    await store.append(entries(30));
    await store.append(entries(5, { app: 'blog' }));
    expect(await store.prune(bounds({ entriesPerApp: 10 }))).toBe(20);
    expect(await messages(store)).toEqual(
      entries(30)
        .slice(20)
        .map(({ message }) => message),
    );
    expect(await messages(store, 'blog')).toHaveLength(5);
    expect(await store.prune(bounds({ entriesPerApp: 10 }))).toBe(0);
  },

  'removes the oldest entries over the bytes, per app': async (store) => {
    await store.append(Array.from({ length: 10 }, (_, number) => entry(`${number}${'€'.repeat(33)}`)));
    expect(await store.prune(bounds({ bytesPerApp: 350 }))).toBe(7);
    expect((await messages(store)).map((message) => message[0])).toEqual(['7', '8', '9']);
  },

  'counts a line by its end, too, so that empty ones are bounded': async (store) => {
    for (let batch = 0; batch < 4; batch++) await store.append(Array.from({ length: 250 }, () => entry('')));
    expect(await store.prune(bounds({ bytesPerApp: 600 }))).toBe(400);
    expect(await messages(store)).toHaveLength(600);
    expect(await store.prune(bounds({ bytesPerApp: 600 }))).toBe(0);
  },

  'keeps count over appends, prunes and removals': async (store) => {
    const few = bounds({ entriesPerApp: 5, bytesPerApp: 1_000 });
    for (let round = 0; round < 4; round++) {
      await store.append(entries(4));
      await store.append([entry('x'.repeat(400)), entry('nul\0')]);
      await store.prune(few);
      expect(await messages(store)).toHaveLength(5);
    }
    await store.removeApp('shop');
    await store.append(entries(5));
    expect(await store.prune(few)).toBe(0);
    expect(await messages(store)).toHaveLength(5);
  },

  'removes a great many': async (store) => {
    await store.append(entries(9_000));
    await store.append(entries(1_500, { app: 'blog' }));
    expect(await store.prune(bounds({ entriesPerApp: 1_000 }))).toBe(8_500);
    expect((await messages(store))[0]).toBe('line 8000');
    expect(await store.prune(bounds({ entriesPerApp: 0, bytesPerApp: 0 }))).toBe(2_000);
    expect(await messages(store)).toEqual([]);
  },

  'lets others write meanwhile': async (store, { again }) => {
    const other = await again();
    await store.append(entries(8_000));
    const [removed] = await Promise.all([
      store.prune(bounds({ entriesPerApp: 100 })),
      ...Array.from({ length: 20 }, () => other.append(entries(5))),
    ]);
    const later = await store.prune(bounds({ entriesPerApp: 100 }));
    expect(removed + later).toBe(8_000);
    expect(await messages(store)).toHaveLength(100);
  },

  'removes what is too old, by whole blocks': async (store) => {
    const day = (number: number, count: number) => entries(count, { at: `2026-03-0${number}T00:00:00.000Z` });
    await store.append(day(1, 4));
    await store.append([...day(2, 1), ...day(4, 1)]);
    await store.append(day(4, 3));
    expect(await store.prune(bounds({ keptSince: '2026-03-01T00:00:00.000Z' }))).toBe(0);
    expect(await store.prune(bounds({ keptSince: '2026-03-03T00:00:00.000Z' }))).toBe(4);
    expect(await messages(store)).toHaveLength(5);
  },

  'removes from the app that has most when all have too much together': async (store) => {
    const noisy = Array.from({ length: 40 }, () => entry('x'.repeat(100)));
    await store.append(entries(3, { app: 'blog' }));
    for (let batch = 0; batch < 10; batch++) await store.append(noisy);
    expect(await store.prune(bounds({ storedBytes: 1024 ** 2 }))).toBe(0);
    const removed = await store.prune(bounds({ storedBytes: 700 }));
    expect(removed).toBeGreaterThan(0);
    expect(await messages(store)).toHaveLength(400 - removed);
    expect(await messages(store, 'blog')).toHaveLength(3);
    await store.prune(bounds({ storedBytes: 0 }));
    expect([await messages(store), await messages(store, 'blog')]).toEqual([[], []]);
  },

  'says what it has removed, and up to where': async (store) => {
    const stored = await store.append(entries(30));
    expect(await store.removed('shop')).toBeNull();
    await store.prune(bounds({ entriesPerApp: 20 }));
    await store.append(entries(3));
    await store.prune(bounds({ entriesPerApp: 20 }));
    expect(await store.removed('shop')).toEqual({ entries: 13, seq: stored[12]?.seq, at: stored[12]?.at });
    expect(await store.removed('blog')).toBeNull();
    await store.removeApp('shop');
    await store.append(entries(1));
    expect(await store.removed('shop')).toBeNull();
  },
};
