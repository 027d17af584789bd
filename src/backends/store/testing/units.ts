import { expect } from 'vitest';
import type { Unit } from '../../../domain/units/unit.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { app, LATER, populate, rollout, unit } from './records.ts';

export const unitCases: StoreCases = {
  'gives back every field of a unit': async (store) => {
    await populate(store, 'shop');
    const full = unit('shop', 3, {
      state: 'error',
      address: { host: '127.0.0.1', port: 40123 },
      handle: '{"pid":1,"started":"x"}',
      exits: 2,
      lastExit: { at: LATER, code: null, signal: 'SIGKILL', outOfMemory: true, lastLines: ['a', 'nul\0', 'ü'] },
    });
    await store.transact((tx) => tx.insertUnit(full));
    expect(await store.unit(full.id)).toEqual(full);
    expect(await store.unit('000000000000')).toBeNull();
  },

  'sorts units by number, and all of them by app': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      for (const index of [10, 2, 0]) await tx.insertUnit(unit('shop', index));
      await tx.insertUnit(unit('blog', 1));
    });
    expect((await store.units('shop')).map(({ index }) => index)).toEqual([0, 2, 10]);
    expect((await store.allUnits()).map((found) => [found.app, found.index])).toEqual([
      ['blog', 1],
      ['shop', 0],
      ['shop', 2],
      ['shop', 10],
    ]);
    const byApp = [...(await store.unitsByApp())].map(([app, own]) => [app, own.map(({ index }) => index)]);
    expect(byApp).toEqual([
      ['blog', [1]],
      ['shop', [0, 2, 10]],
    ]);
    expect(await store.units('gone')).toEqual([]);
  },

  'gives the units of the apps that share a team with a list': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      await tx.insertTeam({ name: 'others', createdAt: LATER, members: [] });
      await tx.updateApp('blog', { teams: ['others'] });
      for (const name of ['shop', 'blog']) await tx.insertUnit(unit(name, 0));
    });
    const apps = async (...teams: string[]) => [...(await store.unitsByApp(teams)).keys()];
    expect(await apps('others')).toEqual(['blog']);
    expect(await apps('others', 'red', 'gone')).toEqual(['blog', 'shop']);
    expect([await apps(), await apps('gone')]).toEqual([[], []]);
  },

  'changes only what is named of a unit': async (store) => {
    await populate(store, 'shop');
    const before = unit('shop', 0, { address: { host: 'h', port: 1 }, handle: 'x' });
    await store.transact(async (tx) => {
      await tx.insertUnit(before);
      await tx.updateUnit(before.id, { state: 'starting', exits: 1 });
      await tx.updateUnit(before.id, {});
    });
    expect(await store.unit(before.id)).toEqual({ ...before, state: 'starting', exits: 1 });
    await store.transact((tx) => tx.updateUnit(before.id, { address: null, handle: null }));
    expect(await store.unit(before.id)).toMatchObject({ address: null, handle: null, state: 'starting' });
  },

  'refuses what no unit does': async (store) => {
    await populate(store, 'shop');
    const { id } = unit('shop', 0);
    await store.transact((tx) => tx.insertUnit(unit('shop', 0)));
    const become = (state: Unit['state']): Promise<void> => store.transact((tx) => tx.updateUnit(id, { state }));
    await expectError(become('started'), 'internal');
    for (const state of ['starting', 'starting', 'started', 'error', 'starting', 'stopped'] as const)
      await become(state);
    await expectError(become('started'), 'internal');
    await store.transact((tx) => tx.updateUnit(id, { exits: 3 }));
    expect(await store.unit(id)).toMatchObject({ state: 'stopped', exits: 3 });
  },

  'lets units go under those who watch them': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertUnit(unit('shop', 0, { id: 'abc' }));
      await tx.deleteUnit('abc');
      await tx.deleteUnit('abc');
      await tx.updateUnit('abc', { state: 'error' });
    });
    expect(await store.unit('abc')).toBeNull();
  },

  'never has two units of one name': async (store) => {
    await populate(store, 'shop');
    await store.transact((tx) => tx.insertUnit(unit('shop', 0, { id: 'one' })));
    await expectError(
      store.transact((tx) => tx.insertUnit(unit('shop', 0, { id: 'two' }))),
      'app.busy',
    );
  },

  'refuses units and rollouts of an app that is not there': async (store) => {
    await populate(store);
    await expectError(
      store.transact((tx) => tx.insertUnit(unit('gone', 0))),
      'app.not_found',
    );
    await expectError(
      store.transact((tx) => tx.insertRollout(rollout('r', 'gone'))),
      'app.not_found',
    );
  },

  'gives back every field of a rollout, and changes it': async (store) => {
    await populate(store, 'shop');
    const before = rollout('abcdefabcdef', 'shop');
    await store.transact((tx) => tx.insertRollout(before));
    expect(await store.rollout(before.id)).toEqual(before);
    await store.transact(async (tx) => {
      await tx.updateRollout(before.id, { state: 'failed', cause: 'no_listener', finishedAt: LATER });
      await tx.updateRollout(before.id, { failuresBefore: 7, failedRequests: 2 });
      await tx.updateRollout(before.id, {});
      await tx.updateRollout('gone', { state: 'done' });
    });
    expect(await store.rollout(before.id)).toEqual({
      ...before,
      state: 'failed',
      cause: 'no_listener',
      finishedAt: LATER,
      failuresBefore: 7,
      failedRequests: 2,
    });
    expect(await store.rollout('gone')).toBeNull();
  },

  'finds the rollouts that are not finished': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      for (const state of ['starting', 'routing', 'draining', 'done', 'failed'] as const) {
        await tx.insertRollout(rollout(state, 'shop', { state }));
      }
    });
    const ids = (await store.unfinishedRollouts()).map(({ id }) => id);
    expect(ids.sort()).toEqual(['draining', 'routing', 'starting']);
  },

  'forgets old rollouts in batches, but for those that serve or are not finished': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertApp(app('blog'));
      for (const n of [1, 2, 3, 4, 5, 6]) {
        const startedAt = `2026-01-01T00:00:0${n}.000Z`;
        await tx.insertRollout(rollout(`shop-${n}`, 'shop', { state: n === 2 ? 'draining' : 'done', startedAt }));
      }
      await tx.insertRollout(rollout('blog-1', 'blog', { state: 'failed' }));
      await tx.updateApp('shop', { rollout: 'shop-3' });
    });
    const forget = (keep: number, batch: number) => store.transact((tx) => tx.deleteOldRollouts({ keep, batch }));
    expect(await forget(6, 10)).toBe(0);
    expect(await forget(1, 2)).toBe(2);
    expect(await forget(1, 2)).toBe(1);
    expect(await forget(1, 2)).toBe(0);
    const ids = ['shop-1', 'shop-2', 'shop-3', 'shop-4', 'shop-5', 'shop-6', 'blog-1'];
    const left = await Promise.all(ids.map(async (id) => ((await store.rollout(id)) === null ? [] : [id])));
    expect(left.flat()).toEqual(['shop-2', 'shop-3', 'shop-6', 'blog-1']);
  },
};
