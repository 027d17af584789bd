import { expect } from 'vitest';
import type { Work } from '../../../domain/controls/control-store.ts';
import type { StoreCases } from './case.ts';
import { deploy, populate, rollout, unit } from './records.ts';

const listed = ({ rollouts, deploys }: Work): string[][] => [[...rollouts].sort(), [...deploys].sort()];

export const controlCases: StoreCases = {
  'knows what a control is at work on, and the rollouts whose units there are': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      for (const [id, state] of [
        ['open', 'starting'],
        ['over', 'done'],
        ['serving', 'done'],
        ['other', 'starting'],
        ['nobody', 'starting'],
      ] as const) {
        await tx.insertRollout(rollout(id, 'shop', { state }));
        if (id !== 'nobody') await tx.claimRollout(id, id === 'other' ? 'two' : 'one');
      }
      await tx.insertUnit(unit('shop', 0, { rollout: 'serving' }));
      for (const [id, state] of [
        ['building', 'building'],
        ['failed', 'failed'],
      ] as const) {
        await tx.insertDeploy(deploy(id, 'shop', { state }));
        await tx.claimDeploy(id, 'one');
      }
    });
    expect(listed(await store.workOf('one'))).toEqual([['open', 'serving'], ['building']]);
    expect(listed(await store.workOf('two'))).toEqual([['other'], []]);
    expect(listed(await store.workOf('three'))).toEqual([[], []]);
    const controls = ['over', 'other', 'nobody', 'gone'].map((id) => store.controlOfRollout(id));
    expect(await Promise.all(controls)).toEqual(['one', 'two', '', null]);
    expect([await store.controlOfDeploy('failed'), await store.controlOfDeploy('gone')]).toEqual(['one', null]);
  },

  'hands over what a control was at work on, and says what that was': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertRollout(rollout('open', 'shop', { state: 'routing' }));
      await tx.claimRollout('open', 'dead');
      await tx.insertDeploy(deploy('building', 'shop', { state: 'building' }));
      await tx.claimDeploy('building', 'dead');
    });
    const handed = await store.transact((tx) => tx.handOver('dead', 'heir'));
    expect(listed(handed)).toEqual([['open'], ['building']]);
    expect(listed(await store.workOf('dead'))).toEqual([[], []]);
    expect(listed(await store.workOf('heir'))).toEqual([['open'], ['building']]);
    expect(listed(await store.transact((tx) => tx.handOver('dead', 'heir')))).toEqual([[], []]);
  },

  'gives the deploys of an app their turns, which end with the commit, and remembers what takes their place': async (
    store,
  ) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      for (const [id, app, ref] of [
        ['9', 'shop', 'refs/heads/main'],
        ['7', 'blog', ''],
        ['8', 'shop', ''],
        ['5', 'shop', 'refs/heads/main'],
      ] as const) {
        await tx.insertDeploy(deploy(id, app, { state: 'received', by: `by ${id}` }));
        await tx.claimDeploy(id, 'one');
        await tx.queueDeploy(id, ref);
      }
      await tx.insertDeploy(deploy('6', 'shop', { state: 'building' }));
    });
    const turns = async (): Promise<string[]> => (await store.deployTurns('shop')).map(({ id }) => id);
    expect(await turns()).toEqual(['9', '8', '5']);
    expect((await store.deployTurns('shop'))[0]).toEqual({
      ...{ id: '9', control: 'one', state: 'received', by: 'by 9', ref: 'refs/heads/main', replacedBy: '' },
    });
    await store.transact((tx) => tx.replaceDeploy('9', 'ann'));
    expect((await store.deployTurns('shop')).map(({ replacedBy }) => replacedBy)).toEqual(['ann', '', '']);
    await store.transact((tx) => tx.updateDeploy('9', { state: 'cancelled' }));
    await store.transact((tx) => tx.updateDeploy('8', { state: 'starting' }));
    expect(await turns()).toEqual(['8', '5']);
    await store.transact((tx) => tx.updateDeploy('8', { state: 'routing' }));
    await store.transact(async (tx) => {
      await tx.insertDeploy(deploy('4', 'shop', { state: 'received' }));
      await tx.queueDeploy('4', '');
    });
    expect(await turns()).toEqual(['5', '4']);
    expect((await store.deployTurns('blog')).map(({ id }) => id)).toEqual(['7']);
    expect(await store.deployTurns('gone')).toEqual([]);
  },

  'gives each of two deploys a turn of its own that are recorded at once': async (store) => {
    await populate(store, 'shop');
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const seen = await Promise.all(
      ids.map((id) =>
        store.transact(async (tx) => {
          const before = await tx.deployTurns('shop');
          await tx.insertDeploy(deploy(id, 'shop', { state: 'received' }));
          await tx.queueDeploy(id, '');
          return before.map((turn) => turn.id);
        }),
      ),
    );
    const order = (await store.deployTurns('shop')).map(({ id }) => id);
    expect([...order].sort()).toEqual(ids);
    expect(ids.map((id) => seen[ids.indexOf(id)])).toEqual(ids.map((id) => order.slice(0, order.indexOf(id))));
  },

  'lists leases, and gives back all of one owner': async (store) => {
    await store.lease('control:one', 'one', 60_000);
    await store.lease('control:two', 'two', 0);
    await store.lease('app:shop', 'one', 60_000);
    expect(await store.leases('control:')).toEqual([
      { key: 'control:one', owner: 'one', isExpired: false },
      { key: 'control:two', owner: 'two', isExpired: true },
    ]);
    await store.releaseLeases('one');
    expect(await store.leases('')).toEqual([{ key: 'control:two', owner: 'two', isExpired: true }]);
  },
};
