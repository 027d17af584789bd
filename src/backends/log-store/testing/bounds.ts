import { expect } from 'vitest';
import { entries, entry, messages } from './case.ts';
import type { LogStoreCases } from './case.ts';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export const boundCases: LogStoreCases = {
  'removes the oldest entries over the number, per app': async (store) => {
    await store.append(entries(30));
    await store.append(entries(5, { app: 'blog' }));
    expect(await store.prune({ entriesPerApp: 10, bytesPerApp: NO_LIMIT })).toBe(20);
    expect(await messages(store)).toEqual(
      entries(30)
        .slice(20)
        .map(({ message }) => message),
    );
    expect(await messages(store, 'blog')).toHaveLength(5);
    expect(await store.prune({ entriesPerApp: 10, bytesPerApp: NO_LIMIT })).toBe(0);
  },

  'removes the oldest entries over the bytes, per app': async (store) => {
    await store.append(Array.from({ length: 10 }, (_, number) => entry(`${number}${'€'.repeat(33)}`)));
    expect(await store.prune({ entriesPerApp: NO_LIMIT, bytesPerApp: 350 })).toBe(7);
    expect((await messages(store)).map((message) => message[0])).toEqual(['7', '8', '9']);
  },

  'keeps count over appends, prunes and removals': async (store) => {
    const bounds = { entriesPerApp: 5, bytesPerApp: 1_000 };
    for (let round = 0; round < 4; round++) {
      await store.append(entries(4));
      await store.append([entry('x'.repeat(400)), entry('nul\0')]);
      await store.prune(bounds);
      expect(await messages(store)).toHaveLength(5);
    }
    await store.removeApp('shop');
    await store.append(entries(5));
    expect(await store.prune(bounds)).toBe(0);
    expect(await messages(store)).toHaveLength(5);
  },

  'removes a great many': async (store) => {
    await store.append(entries(9_000));
    await store.append(entries(1_500, { app: 'blog' }));
    expect(await store.prune({ entriesPerApp: 1_000, bytesPerApp: NO_LIMIT })).toBe(8_500);
    expect((await messages(store))[0]).toBe('line 8000');
    expect(await store.prune({ entriesPerApp: 0, bytesPerApp: 0 })).toBe(2_000);
    expect(await messages(store)).toEqual([]);
  },

  'lets others write meanwhile': async (store, { again }) => {
    const other = await again();
    await store.append(entries(8_000));
    const [removed] = await Promise.all([
      store.prune({ entriesPerApp: 100, bytesPerApp: NO_LIMIT }),
      ...Array.from({ length: 20 }, () => other.append(entries(5))),
    ]);
    const later = await store.prune({ entriesPerApp: 100, bytesPerApp: NO_LIMIT });
    expect(removed + later).toBe(8_000);
    expect(await messages(store)).toHaveLength(100);
  },
};
