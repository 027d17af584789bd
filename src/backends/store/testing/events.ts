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
