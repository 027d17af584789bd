import { expect } from 'vitest';
import type { StoreCases } from './case.ts';
import { event } from './records.ts';

export const eventCases: StoreCases = {
  'lists events, the newest first': async (store) => {
    const all = ['c', 'a', 'b'].map((id) => event(id, { error: id === 'a' ? 'app.busy' : '' }));
    for (const one of all) await store.transact((tx) => tx.insertEvent(one));
    expect(await store.events(10)).toEqual([...all].reverse());
    expect(await store.events(1)).toEqual(all.slice(-1));
  },

  'forgets the oldest in batches, by age and by number': async (store) => {
    const days = ['01', '02', '03', '04', '05', '06'];
    for (const day of days) {
      await store.transact((tx) => tx.insertEvent(event(day, { at: `2026-01-${day}T00:00:00.000Z` })));
    }
    const forget = (before: string, keep: number, batch: number): Promise<number> =>
      store.transact((tx) => tx.deleteOldEvents({ before: `2026-01-${before}T00:00:00.000Z`, keep, batch }));
    const left = async () => (await store.events(10)).map(({ id }) => id).reverse();
    expect(await forget('01', 6, 10)).toBe(0);
    expect(await forget('04', 100, 2)).toBe(2);
    expect(await left()).toEqual(['03', '04', '05', '06']);
    expect(await forget('04', 100, 2)).toBe(1);
    expect(await forget('04', 100, 2)).toBe(0);
    expect(await forget('01', 1, 10)).toBe(2);
    expect(await left()).toEqual(['06']);
  },

  'records odd attempts too': async (store) => {
    await store.transact((tx) => tx.insertEvent(event('e', { target: 'app:a\0b', detail: '\0' })));
    expect(await store.events(1)).toMatchObject([{ target: 'app:a\uFFFDb', detail: '\uFFFD' }]);
  },

  'keeps settings': async (store, { again }) => {
    expect(await store.setting('a')).toBeNull();
    await store.transact(async (tx) => {
      await tx.setSetting('a', '1');
      await tx.setSetting('b', '');
      await tx.setSetting('a', '2');
    });
    const other = await again();
    expect([await other.setting('a'), await other.setting('b')]).toEqual(['2', '']);
  },
};
