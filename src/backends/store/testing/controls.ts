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

  'hands over what a control was at work on, and tells what that was': async (store) => {
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

  'lists leases, and gives back all of one owner': async (store) => {
    await store.lease('control:one', 'one', 60_000);
    await store.lease('control:two', 'two', 0);
    await store.lease('app:shop', 'one', 60_000);
    expect(await store.leases('control:')).toEqual([
      { key: 'control:one', isExpired: false },
      { key: 'control:two', isExpired: true },
    ]);
    await store.releaseLeases('one');
    expect(await store.leases('')).toEqual([{ key: 'control:two', isExpired: true }]);
  },
};
