import { expect } from 'vitest';
import { DEFAULT_EDGE } from '../../../domain/apps/edge-settings.ts';
import { expectError } from './case.ts';
import type { StoreCases } from './case.ts';
import { app, deploy, populate, release, rollout, team, unit, user, variable } from './records.ts';

export const appCases: StoreCases = {
  'answers null and nothing for what is missing': async (store) => {
    expect(await store.app('shop')).toBeNull();
    expect(await store.apps()).toEqual([]);
    expect(await store.apps(['red'])).toEqual([]);
  },

  'gives back every field': async (store) => {
    await populate(store);
    const full = app('shop', {
      teams: ['blue', 'red'],
      description: 'Ünïcode ✓ \'quoted\' "text"; drop table apps --',
      cname: ['a.example.com', 'b.example.com'],
      release: 3,
      rollout: 'abcdefabcdef',
      desired: 'stopped',
      stoppedProcesses: ['clock', 'worker'],
      routedProcesses: ['admin', 'api'],
      swappedWith: 'blog',
      edge: { ...DEFAULT_EDGE, maintenance: true, maintenancePage: '<h1>Ü</h1>', hold: 'unserved', maxRequests: 7 },
      customData: { deep: [{ ü: null }] },
      deploys: 7,
      removing: true,
    });
    await store.transact((tx) => tx.insertApp(full));
    expect(await store.app('shop')).toEqual(full);
    expect(await store.apps()).toEqual([full]);
  },

  'keeps how requests are treated, and that nothing of it is set': async (store) => {
    await populate(store, 'shop');
    expect((await store.app('shop'))?.edge).toEqual(DEFAULT_EDGE);
    const edge = { ...DEFAULT_EDGE, sticky: true, redirectHttps: false, holdSeconds: 90 };
    await store.transact((tx) => tx.updateApp('shop', { edge }));
    await store.transact((tx) => tx.updateApp('shop', { description: 'else' }));
    expect((await store.app('shop'))?.edge).toEqual(edge);
    await store.transact((tx) => tx.updateApp('shop', { edge: { ...edge, ...DEFAULT_EDGE } }));
    expect((await store.app('shop'))?.edge).toEqual(DEFAULT_EDGE);
  },

  'sorts teams and domains': async (store) => {
    await populate(store);
    await store.transact((tx) => tx.insertApp(app('shop', { teams: ['red', 'blue'], cname: ['b.io', 'a.io'] })));
    expect(await store.app('shop')).toMatchObject({ teams: ['blue', 'red'], cname: ['a.io', 'b.io'] });
    const lists = { stoppedProcesses: ['worker', 'clock'], routedProcesses: ['b', 'a'] };
    await store.transact((tx) => tx.updateApp('shop', { swappedWith: 'blog', ...lists }));
    await store.transact((tx) => tx.updateApp('shop', { swappedWith: null }));
    expect(await store.app('shop')).toMatchObject({
      ...{ swappedWith: null, stoppedProcesses: ['clock', 'worker'], routedProcesses: ['a', 'b'] },
    });
  },

  'lists by name, all or those that share a team': async (store) => {
    await populate(store, 'c', 'a-b', 'a', 'ab');
    await store.transact((tx) => tx.insertApp(app('b', { teams: ['blue', 'red'], teamOwner: 'blue' })));
    const names = async (...args: Parameters<typeof store.apps>) => (await store.apps(...args)).map(({ name }) => name);
    expect(await names()).toEqual(['a', 'a-b', 'ab', 'b', 'c']);
    expect(await names(['blue'])).toEqual(['b']);
    expect(await names(['blue', 'red', 'green'])).toEqual(['a', 'a-b', 'ab', 'b', 'c']);
    expect(await names(['green'])).toEqual([]);
    expect(await names([])).toEqual([]);
    expect((await store.apps(['blue']))[0]?.teams).toEqual(['blue', 'red']);
  },

  'takes a name once': async (store) => {
    await populate(store, 'shop');
    await expectError(
      store.transact((tx) => tx.insertApp(app('shop', { platform: 'python' }))),
      'app.name_taken',
    );
    expect(await store.app('shop')).toMatchObject({ platform: 'nodejs' });
  },

  'takes a name once, whoever comes first': async (store) => {
    await populate(store);
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, () => store.transact((tx) => tx.insertApp(app('shop')))),
    );
    const failed = attempts.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(failed).toHaveLength(7);
    for (const error of failed) expect(error).toMatchObject({ code: 'app.name_taken' });
  },

  'refuses a team that is not there': async (store) => {
    await populate(store, 'shop');
    await expectError(
      store.transact((tx) => tx.insertApp(app('blog', { teams: ['green'] }))),
      'team.not_found',
    );
    await expectError(
      store.transact((tx) => tx.updateApp('shop', { teams: ['red', 'green'] })),
      'team.not_found',
    );
    expect(await store.app('blog')).toBeNull();
    expect((await store.app('shop'))?.teams).toEqual(['red']);
  },

  'changes only what is named': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact((tx) => tx.updateApp('shop', { release: 4, rollout: 'aaaaaaaaaaaa', deploys: 1 }));
    expect(await store.app('shop')).toEqual(app('shop', { release: 4, rollout: 'aaaaaaaaaaaa', deploys: 1 }));
    await store.transact((tx) => tx.updateApp('shop', { release: null, removing: true, teams: ['red', 'blue'] }));
    expect(await store.app('shop')).toEqual(
      app('shop', { release: null, rollout: 'aaaaaaaaaaaa', deploys: 1, removing: true, teams: ['blue', 'red'] }),
    );
    await store.transact((tx) => tx.updateApp('shop', {}));
    expect(await store.app('blog')).toEqual(app('blog'));
  },

  'says when the app to change is missing': async (store) => {
    await populate(store);
    await expectError(
      store.transact((tx) => tx.updateApp('gone', { deploys: 1 })),
      'app.not_found',
    );
    await expectError(
      store.transact((tx) => tx.updateApp('gone', { teams: ['red'] })),
      'app.not_found',
    );
  },

  'deletes an app with all it has, and keeps its deploys, marked': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      for (const [number, name] of ['shop', 'blog'].entries()) {
        await tx.setEnv(name, [variable('A', '1')]);
        await tx.insertRelease(release(name, 1));
        await tx.insertUnit(unit(name, 0, { id: `unit-${name}` }));
        await tx.insertRollout(rollout(`rollout-${name}`, name));
        await tx.insertDeploy(deploy(`deploy-${number}`, name));
        await tx.appendDeployLog(`deploy-${number}`, ['line']);
      }
    });
    await store.transact((tx) => tx.deleteApp('shop'));
    expect(await store.app('shop')).toBeNull();
    expect(await store.env('shop')).toEqual([]);
    expect(await store.releases('shop', 10)).toEqual([]);
    expect(await store.allUnits()).toMatchObject([{ app: 'blog' }]);
    expect(await store.rollout('rollout-shop')).toBeNull();
    expect((await store.deploy('deploy-0'))?.removedAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(await store.deployLog('deploy-0')).toEqual(['line']);
    expect(await store.deploys({ limit: 10, skip: 0 })).toMatchObject([{ app: 'blog', removedAt: null }]);
    expect(await store.env('blog')).toHaveLength(1);
    await store.transact((tx) => tx.deleteApp('shop'));
  },

  'gives a name back after removal': async (store) => {
    await populate(store, 'shop');
    await store.transact((tx) => tx.insertDeploy(deploy('old', 'shop')));
    await store.transact((tx) => tx.deleteApp('shop'));
    await store.transact(async (tx) => {
      await tx.insertApp(app('shop'));
      await tx.insertDeploy(deploy('young', 'shop'));
    });
    expect(await store.env('shop')).toEqual([]);
    expect(await store.deploys({ apps: ['shop'], limit: 10, skip: 0 })).toMatchObject([{ id: 'young' }]);
  },

  'refuses a text that cannot be kept': async (store) => {
    await populate(store, 'shop');
    await expectError(
      store.transact((tx) => tx.updateApp('shop', { description: 'before\0after' })),
      'input.invalid',
    );
    expect(await store.app('shop')).toEqual(app('shop'));
  },

  'keeps long texts and lists of any length': async (store) => {
    const teams = Array.from({ length: 40 }, (_, number) => `team-${String(number).padStart(2, '0')}`);
    const description = 'long '.repeat(50_000);
    await store.transact(async (tx) => {
      await tx.insertUser(user('ann@example.com'));
      for (const name of teams) await tx.insertTeam(team(name));
      await tx.insertApp(app('shop', { teams, description }));
    });
    expect(await store.app('shop')).toMatchObject({ teams, description });
    const many = Array.from({ length: 70_000 }, (_, number) => `other-${number}`);
    expect(await store.apps([...many, 'team-07'])).toHaveLength(1);
  },
};
