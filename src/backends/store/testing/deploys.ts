import { expect } from 'vitest';
import { DEPLOY_STATES } from '../../../domain/deploys/deploy.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { deploy, LATER, populate, release } from './records.ts';

export const deployCases: StoreCases = {
  'gives back every field, and changes only what is named': async (store) => {
    await populate(store, 'shop');
    const before = deploy('0001', 'shop', {
      origin: 'rollback',
      release: 2,
      artifact: 'slug-2',
      image: 'registry.example.com/shop:2',
      phases: { building: 1.5, routing: 20 },
      error: 'It "died"',
      warning: 'To a request for / the app answers 500.',
    });
    await store.transact((tx) => tx.insertDeploy(before));
    expect(await store.deploy('0001')).toEqual(before);
    const change = {
      state: 'failed',
      cause: 'build_failed',
      finishedAt: LATER,
      durationMs: 1200,
      failedRequests: 0,
      warning: '',
    } as const;
    await store.transact((tx) => tx.updateDeploy('0001', change));
    expect(await store.deploy('0001')).toEqual({ ...before, ...change });
    await store.transact((tx) => tx.updateDeploy('0001', { release: null, durationMs: 7.6 }));
    expect(await store.deploy('0001')).toEqual({ ...before, ...change, release: null, durationMs: 8 });
    expect(await store.deploy('0002')).toBeNull();
  },

  'keeps an error that quotes odd output': async (store) => {
    await store.transact((tx) => tx.insertDeploy(deploy('0001', 'shop', { error: 'died\0here' })));
    expect((await store.deploy('0001'))?.error).toBe('died\uFFFDhere');
  },

  'forgets what old deploys printed, in batches, app by app': async (store) => {
    await store.transact(async (tx) => {
      for (const id of ['0001', '0002', '0003', '0004', '0005']) {
        await tx.insertDeploy(deploy(id, 'shop', { state: id === '0002' ? 'building' : 'done' }));
        await tx.appendDeployLog(id, [`built ${id}`]);
        await tx.appendDeployLog(id, ['done']);
      }
      await tx.insertDeploy(deploy('0006', 'blog', { state: 'failed', removedAt: LATER }));
      await tx.appendDeployLog('0006', ['built']);
    });
    const forget = async (keep: number, limit: number): Promise<number> => {
      const ids = await store.oldDeploys('shop', { which: 'logged', keep, limit });
      await store.transact((tx) => tx.deleteDeployLogs(ids));
      return ids.length;
    };
    const many = (keep: number) => store.appsOfManyDeploys(keep);
    expect([await many(0), await many(1), await many(4), await many(5)]).toEqual([
      ['blog', 'shop'],
      ['shop'],
      ['shop'],
      [],
    ]);
    expect(await forget(5, 10)).toBe(0);
    expect(await forget(1, 2)).toBe(2);
    expect(await forget(1, 2)).toBe(1);
    expect(await forget(1, 2)).toBe(0);
    const logs = await Promise.all(['0001', '0002', '0003', '0004'].map((id) => store.deployLog(id)));
    expect(logs).toEqual([[], ['built 0002', 'done'], [], []]);
    expect(await store.deployLog('0005')).toEqual(['built 0005', 'done']);
    expect(await store.deployLog('0006')).toEqual(['built']);
    expect((await store.deploys({ limit: 10, skip: 0 })).length).toBe(5);
  },

  'forgets old deploys with what they printed, in batches, but those at work and those that releases name': async (
    store,
  ) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      for (const id of ['0001', '0002', '0003', '0004', '0005']) {
        await tx.insertDeploy(deploy(id, 'shop', { state: id === '0002' ? 'building' : 'done' }));
        await tx.appendDeployLog(id, ['done']);
      }
      await tx.insertDeploy(deploy('0006', 'blog', { state: 'failed' }));
      await tx.insertRelease(release('shop', 1, { deployId: '0001' }));
    });
    const forget = async (keep: number, limit: number): Promise<number> => {
      const ids = await store.oldDeploys('shop', { which: 'unnamed', keep, limit });
      await store.transact((tx) => tx.deleteDeploys(ids));
      return ids.length;
    };
    expect(await forget(5, 10)).toBe(0);
    expect(await forget(1, 1)).toBe(1);
    expect(await forget(1, 10)).toBe(1);
    expect(await forget(1, 10)).toBe(0);
    const left = (await store.deploys({ limit: 10, skip: 0 })).map(({ id }) => id);
    expect(left.sort()).toEqual(['0001', '0002', '0005', '0006']);
    expect(await store.deployLog('0003')).toEqual([]);
    await store.transact((tx) => tx.deleteDeploys(['0001']));
    expect(await store.deployLog('0001')).toEqual(['done']);
  },

  'says when the deploy to change is missing': async (store) => {
    await expectError(
      store.transact((tx) => tx.updateDeploy('gone', { state: 'done' })),
      'deploy.not_found',
    );
    await expectError(
      store.transact((tx) => tx.appendDeployLog('gone', ['line'])),
      'deploy.not_found',
    );
  },

  'lists the newest first, in pages, of every app or some': async (store) => {
    await store.transact(async (tx) => {
      for (let number = 10; number < 30; number++) {
        await tx.insertDeploy(deploy(`00${number}`, number % 2 === 0 ? 'shop' : 'blog'));
      }
      await tx.insertDeploy(deploy('0050', 'shop', { removedAt: LATER }));
    });
    const ids = async (...args: Parameters<typeof store.deploys>) => (await store.deploys(...args)).map(({ id }) => id);
    expect(await ids({ limit: 3, skip: 0 })).toEqual(['0029', '0028', '0027']);
    expect(await ids({ limit: 3, skip: 2 })).toEqual(['0027', '0026', '0025']);
    expect(await ids({ limit: 100, skip: 18 })).toEqual(['0011', '0010']);
    expect(await ids({ limit: 100, skip: 20 })).toEqual([]);
    expect(await ids({ apps: ['shop'], limit: 2, skip: 1 })).toEqual(['0026', '0024']);
    expect(await ids({ apps: ['shop', 'blog', 'gone'], limit: 100, skip: 0 })).toHaveLength(20);
    expect(await ids({ apps: [], limit: 100, skip: 0 })).toEqual([]);
  },

  'finds the deploys that are not finished': async (store) => {
    await store.transact(async (tx) => {
      for (const state of DEPLOY_STATES) await tx.insertDeploy(deploy(state, 'shop', { state }));
    });
    const ids = (await store.unfinishedDeploys()).map(({ id }) => id);
    expect(ids).toEqual(['building', 'draining', 'received', 'releasing', 'routing', 'starting']);
  },

  'keeps the log in order, whatever is in it': async (store) => {
    await store.transact((tx) => tx.insertDeploy(deploy('0001', 'shop')));
    const lines = Array.from({ length: 250 }, (_, number) => `line ${number} ü \0 "\\`);
    for (let from = 0; from < lines.length; from += 50) {
      await store.transact((tx) => tx.appendDeployLog('0001', lines.slice(from, from + 50)));
    }
    await store.transact(async (tx) => {
      await tx.appendDeployLog('0001', []);
      await tx.appendDeployLog('0001', ['', 'the end']);
    });
    expect(await store.deployLog('0001')).toEqual([...lines, '', 'the end']);
    expect(await store.deployLog('gone')).toEqual([]);
  },
};
