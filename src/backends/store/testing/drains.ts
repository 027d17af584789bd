import { expect } from 'vitest';
import type { Drain } from '../../../domain/drains/drain.ts';
import type { StoreCases } from './case.ts';
import { AT } from './records.ts';

function drain(id: string, app: string): Drain {
  const target = {
    format: 'loki',
    url: 'https://logs.example.com/push?key=secret',
    headers: { 'x-key': 'v' },
  } as const;
  return { id, app, target, by: 'ann@example.com', createdAt: AT };
}

export const drainCases: StoreCases = {
  'gives back drains with every field, by app, and changes and removes them': async (store, under) => {
    await store.transact(async (tx) => {
      for (const [id, app] of [
        ['c', 'shop'],
        ['b', ''],
        ['a', 'shop'],
      ] as const) {
        await tx.insertDrain(drain(id, app));
      }
    });
    expect(await (await under.again()).drains()).toEqual([drain('b', ''), drain('a', 'shop'), drain('c', 'shop')]);
    const target = { format: 'syslog', url: 'syslog://logs.example.com:514', headers: {} } as const;
    await store.transact((tx) => tx.setDrainTarget('a', target));
    expect(await store.drain('a')).toEqual({ ...drain('a', 'shop'), target });
    await store.transact((tx) => tx.deleteDrain('a'));
    expect(await store.drain('a')).toBeNull();
    await store.transact((tx) => tx.deleteDrainsOf('shop'));
    expect(await store.drains()).toEqual([drain('b', '')]);
  },
};
