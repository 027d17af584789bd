import { expect } from 'vitest';
import type { StoreCases } from './case.ts';
import type { EventEnd, EventFilter } from '../../../domain/audit/events.ts';
import { AT, event, LATER, populate } from './records.ts';

const END: EventEnd = {
  ...{ endedAt: LATER, error: 'app.busy', deploy: 'd1' },
  changes: [{ field: 'plan', before: null, after: 'large' }],
};

export const eventCases: StoreCases = {
  'lists events, the newest first': async (store) => {
    const all = ['c', 'a', 'b'].map((id) => event(id, { error: id === 'a' ? 'app.busy' : '' }));
    for (const one of all) await store.transact((tx) => tx.insertEvent(one));
    expect(await store.events(10)).toEqual([...all].reverse());
    expect(await store.events(1)).toEqual(all.slice(-1));
  },

  'ends an event, once': async (store) => {
    await store.transact((tx) => tx.insertEvent(event('e', { endedAt: '' })));
    await store.transact((tx) => tx.endEvent('e', END));
    await store.transact((tx) => tx.endEvent('e', { ...END, error: '' }));
    await store.transact((tx) => tx.endEvent('unknown', END));
    expect(await store.event('e')).toEqual(event('e', END));
    expect(await store.event('unknown')).toBeNull();
  },

  'has an event once, with the end that it was given': async (store) => {
    await store.transact((tx) => tx.insertEvent(event('e', { endedAt: '' })));
    const ended = event('e', END);
    await store.transact((tx) => tx.insertEvent(ended));
    expect(await store.events(10)).toEqual([ended]);
  },

  'selects events by what they are about and who made them': async (store) => {
    const all = [
      event('1', { target: 'app:shop', actor: 'ann' }),
      event('2', { target: 'app:blog', actor: 'bob', error: 'app.busy' }),
      event('3', { target: 'user:ann', actor: 'ann', action: 'user.password' }),
    ];
    for (const one of all) await store.transact((tx) => tx.insertEvent(one));
    const ids = async (filter: EventFilter) => (await store.events(10, filter)).map(({ id }) => id).join('');
    expect([await ids({ target: 'app:shop' }), await ids({ action: 'user.password' })]).toEqual(['1', '3']);
    expect([await ids({ actor: 'bob' }), await ids({ failedOnly: true }), await ids({ skip: 1 })]).toEqual([
      '2',
      '2',
      '21',
    ]);
  },

  'selects events by when they began, the end left out': async (store) => {
    const at = (second: number): string => `2026-03-04T05:06:0${second}.000Z`;
    for (const second of [1, 2, 3])
      await store.transact((tx) => tx.insertEvent(event(`e${second}`, { at: at(second) })));
    const ids = async (filter: EventFilter) => (await store.events(10, filter)).map(({ id }) => id);
    expect(await ids({ since: at(2) })).toEqual(['e3', 'e2']);
    expect(await ids({ until: at(3) })).toEqual(['e2', 'e1']);
    expect(await ids({ since: at(2), until: at(3) })).toEqual(['e2']);
  },

  'shows of an app what was since it was made, and of an actor everything': async (store) => {
    const early = '2026-01-01T00:00:00.000Z';
    const all = [
      event('1', { target: 'app:blog', actor: 'bob', at: early, endedAt: early }),
      event('2', { target: 'app:blog', actor: 'bob', at: early, endedAt: AT }),
      event('3', { target: 'app:blog', actor: 'bob', at: AT, endedAt: '' }),
      event('4', { target: 'app:shop', actor: 'ann' }),
      event('5', { target: 'app:gone', actor: 'bob' }),
      event('6', { target: 'app:blog', actor: 'ann', at: early, endedAt: '' }),
    ];
    await populate(store, 'blog', 'shop');
    for (const one of all) await store.transact((tx) => tx.insertEvent(one));
    const ids = async (apps: string[], actor: string): Promise<string> =>
      (await store.events(10, { visible: { apps, actor } })).map(({ id }) => id).join('');
    expect(await ids(['blog', 'gone'], 'eve')).toBe('32');
    expect(await ids(['blog'], 'ann')).toBe('6432');
    expect(await ids([], 'eve')).toBe('');
  },

  'keeps the newest refusals, and everything else': async (store) => {
    const isRefusal = true;
    for (const id of ['1', '2', '3', '4']) {
      await store.transact((tx) => tx.insertEvent(event(`r${id}`, { isRefusal })));
      await store.transact((tx) => tx.insertEvent(event(`e${id}`)));
    }
    const forget = (keep: number, batch: number) =>
      store.transact(async (tx) => (await tx.deleteOldRefusals({ keep, batch })).events);
    expect(await forget(4, 10)).toBe(0);
    expect(await forget(1, 2)).toBe(2);
    expect((await store.events(10)).map(({ id }) => id)).toEqual(['e4', 'r4', 'e3', 'r3', 'e2', 'e1']);
    expect([await forget(1, 2), await forget(0, 2)]).toEqual([1, 1]);
    expect(await store.events(10)).toHaveLength(4);
  },

  'forgets the oldest in batches, by age and by number': async (store) => {
    const days = ['01', '02', '03', '04', '05', '06'];
    for (const day of days) {
      await store.transact((tx) => tx.insertEvent(event(day, { at: `2026-01-${day}T00:00:00.000Z` })));
    }
    const forget = (before: string, keep: number, batch: number): Promise<number> =>
      store.transact(async (tx) => {
        const bounds = { before: `2026-01-${before}T00:00:00.000Z`, keep, batch };
        return (await tx.deleteOldEvents(bounds)).events;
      });
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
