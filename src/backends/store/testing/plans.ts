import { expect } from 'vitest';
import type { Plan } from '../../../domain/plans/plan.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { AT, app, populate } from './records.ts';

function plan(name: string, more: Partial<Plan> = {}): Plan {
  const memoryBytes = 6 * 1024 ** 3;
  return { name, memoryBytes, cpuMillis: 1500, cpuShare: 100, diskBytes: 0, isDefault: false, createdAt: AT, ...more };
}

export const planCases: StoreCases = {
  'gives back plans, sorted, with one default at most': async (store) => {
    expect(await store.plans()).toEqual([]);
    await store.transact(async (tx) => {
      await tx.insertPlan(plan('small', { isDefault: true }));
      await tx.insertPlan(plan('large', { memoryBytes: 0, cpuMillis: 0, diskBytes: 6 * 1024 ** 3 }));
    });
    expect(await store.plans()).toEqual([
      plan('large', { memoryBytes: 0, cpuMillis: 0, diskBytes: 6 * 1024 ** 3 }),
      plan('small', { isDefault: true }),
    ]);
    await store.transact((tx) => tx.insertPlan(plan('medium', { isDefault: true })));
    expect((await store.plans()).filter(({ isDefault }) => isDefault).map(({ name }) => name)).toEqual(['medium']);
    expect(await store.plan('small')).toEqual(plan('small'));
    await store.transact((tx) => tx.deletePlan('small'));
    await store.transact((tx) => tx.deletePlan('small'));
    expect(await store.plan('small')).toBeNull();
  },

  'has each name once, and then keeps the default': async (store) => {
    await store.transact((tx) => tx.insertPlan(plan('small', { isDefault: true })));
    await expectError(
      store.transact((tx) => tx.insertPlan(plan('small', { isDefault: true, cpuShare: 7 }))),
      'plan.name_taken',
    );
    expect(await store.plans()).toEqual([plan('small', { isDefault: true })]);
  },

  'keeps the plan of an app': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertApp(app('shop', { plan: 'small' })));
    expect((await store.app('shop'))?.plan).toBe('small');
    await store.transact((tx) => tx.updateApp('shop', { plan: 'default' }));
    expect((await store.app('shop'))?.plan).toBe('default');
  },
};
