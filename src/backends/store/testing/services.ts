import { expect } from 'vitest';
import { GIVEN_NAMES } from '../../../domain/services/service.ts';
import type { Binding, Instance, Service } from '../../../domain/services/service.ts';
import type { BindingFilter } from '../../../domain/services/service-store.ts';
import { expectError, type StoreCases } from './case.ts';
import { AT, LATER, populate } from './records.ts';

export function service(name: string, more: Partial<Service> = {}): Service {
  return {
    name,
    kind: 'http',
    url: 'https://db.example.com',
    username: 'platform',
    password: `password of ${name}`,
    ownerTeams: ['red'],
    teams: [],
    isRestricted: false,
    createdAt: AT,
    ...more,
  };
}

export function instance(name: string, more: Partial<Instance> = {}): Instance {
  return {
    id: `id of ${name}`,
    name,
    service: 'db',
    teamOwner: 'red',
    teams: ['red'],
    user: 'ann@example.com',
    plan: 'small',
    description: `The ${name}`,
    tags: ['a', 'b'],
    parameters: { size: 'a secret size' },
    state: 'creating',
    createdAt: AT,
    attempts: 0,
    problem: '',
    ...more,
  };
}

export function binding(id: string, more: Partial<Binding> = {}): Binding {
  return {
    id,
    instance: 'id of one',
    app: 'shop',
    state: 'binding',
    appHost: 'shop.apps.test',
    user: 'ann@example.com',
    vars: {},
    names: GIVEN_NAMES,
    unitHosts: [],
    createdAt: AT,
    attempts: 0,
    problem: '',
    ...more,
  };
}

export const serviceCases: StoreCases = {
  'keeps services with their two lists of teams, sorted': async (store) => {
    await populate(store, 'shop');
    const db = service('db', { ownerTeams: ['blue', 'red'], teams: ['blue'], isRestricted: true });
    const cache = service('cache', { kind: 'osb' });
    await store.transact(async (tx) => {
      await tx.insertService({ ...db, ownerTeams: ['red', 'blue'] });
      await tx.insertService(cache);
    });
    expect(await store.service('db')).toEqual(db);
    expect(await store.service('gone')).toBeNull();
    const summaries = [cache, db].map(({ password: _sealed, ...summary }) => summary);
    expect(await store.services()).toEqual(summaries);
  },

  'keeps what is written about a service': async (store) => {
    await populate(store, 'shop');
    await store.transact((tx) => tx.insertService(service('db')));
    expect([await store.serviceDoc('db'), await store.serviceDoc('gone')]).toEqual(['', '']);
    const doc = 'How to\nuse it: ünï\n';
    await store.transact((tx) => tx.updateService('db', { doc }));
    await store.transact((tx) => tx.updateService('db', { username: 'other' }));
    expect(await store.serviceDoc('db')).toBe(doc);
  },

  'changes what is given of a service, and forgets teams that go': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertService(service('db', { teams: ['blue'] }));
      await tx.updateService('db', { password: 'another', url: 'http://x', isRestricted: true });
    });
    const changed = service('db', {
      teams: ['blue'],
      password: 'another',
      url: 'http://x',
      isRestricted: true,
    });
    expect(await store.service('db')).toEqual(changed);
    await store.transact((tx) => tx.updateService('db', { ownerTeams: ['blue'], teams: [] }));
    expect(await store.service('db')).toEqual({ ...changed, ownerTeams: ['blue'], teams: [] });
    await store.transact((tx) => tx.deleteTeam('blue'));
    expect((await store.service('db'))?.ownerTeams).toEqual([]);
    await expectError(
      store.transact((tx) => tx.updateService('gone', { doc: 'x' })),
      'service.not_found',
    );
  },

  'refuses services and instances whose name is taken, or whose team is not there': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertService(service('db'));
      await tx.insertService(service('cache'));
      await tx.insertInstance(instance('one'));
    });
    await expectError(
      store.transact((tx) => tx.insertService(service('db'))),
      'service.name_taken',
    );
    await expectError(
      store.transact((tx) => tx.insertService(service('x', { ownerTeams: ['gone'] }))),
      'team.not_found',
    );
    await expectError(
      store.transact((tx) => tx.insertInstance(instance('one', { id: 'other', service: 'cache' }))),
      'instance.name_taken',
    );
    await expectError(
      store.transact((tx) => tx.insertInstance(instance('two', { service: 'gone' }))),
      'service.not_found',
    );
    await expectError(
      store.transact((tx) => tx.insertInstance(instance('two', { teams: ['gone'] }))),
      'team.not_found',
    );
    expect((await store.instances()).map(({ name }) => name)).toEqual(['one']);
  },

  'keeps instances, and changes what is given of one': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertService(service('db'));
      await tx.insertService(service('cache'));
      await tx.insertInstance(instance('two', { service: 'cache' }));
      await tx.insertInstance(instance('one'));
    });
    expect(await store.instance('one')).toEqual(instance('one'));
    expect(await store.instanceById('id of one')).toEqual(instance('one'));
    expect(await store.instance('gone')).toBeNull();
    expect((await store.instances()).map(({ name }) => name)).toEqual(['one', 'two']);
    const { parameters: _sealed, ...two } = instance('two', { service: 'cache' });
    expect(await store.instances('cache')).toEqual([two]);
    const change = { state: 'ready', teams: ['blue', 'red'], attempts: 3, problem: 'no', tags: [] } as const;
    await store.transact(async (tx) => {
      await tx.updateInstance('id of one', { ...change, teams: ['red', 'blue'] });
      await tx.updateInstance('gone', change);
    });
    expect(await store.instance('one')).toEqual(instance('one', change));
  },

  'removes no service that has instances, and an instance with its bindings': async (store) => {
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.insertService(service('db'));
      await tx.insertInstance(instance('one'));
      await tx.insertBinding(binding('b'));
    });
    await expectError(
      store.transact((tx) => tx.deleteService('db')),
      'service.has_instances',
    );
    await store.transact(async (tx) => {
      await tx.deleteInstance('id of one');
      await tx.deleteService('db');
    });
    expect([await store.services(), await store.instances(), await store.bindingSummaries()]).toEqual([[], [], []]);
  },

  'keeps bindings oldest first, one for each app and instance, beyond the life of the app': async (store) => {
    await populate(store, 'shop', 'blog');
    await store.transact(async (tx) => {
      await tx.insertService(service('db'));
      await tx.insertInstance(instance('one'));
      await tx.insertInstance(instance('two'));
      await tx.insertBinding(binding('b', { createdAt: LATER, instance: 'id of two' }));
      await tx.insertBinding(binding('a'));
      await tx.insertBinding(binding('c', { app: 'blog', createdAt: LATER }));
    });
    const a = binding('a', {
      state: 'bound',
      vars: { URL: 'db://x\n"y"' },
      names: { from: 'set', names: { MAIN: 'URL' } },
      unitHosts: ['h:1', 'h:2'],
      attempts: 2,
    });
    await store.transact(async (tx) => {
      await tx.updateBinding('a', {
        state: a.state,
        vars: a.vars,
        names: a.names,
        unitHosts: ['h:2', 'h:1'],
        attempts: 2,
      });
      await tx.updateBinding('gone', { state: 'bound' });
    });
    expect(await store.binding('a')).toEqual(a);
    expect(await store.binding('gone')).toBeNull();
    const { vars: _sealed, ...summary } = a;
    expect((await store.bindingSummaries()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect((await store.bindingSummaries())[0]).toEqual(summary);
    const ids = async (filter: BindingFilter): Promise<string[]> => {
      const bindings = await store.bindings(filter);
      const summaries = bindings.map(({ vars: _vars, ...rest }) => rest);
      expect(await store.bindingSummaries(filter)).toEqual(summaries);
      return bindings.map(({ id }) => id);
    };
    expect(await ids({ app: 'shop' })).toEqual(['a', 'b']);
    expect(await ids({ instance: 'id of one' })).toEqual(['a', 'c']);
    expect(await ids({ app: 'blog', instance: 'id of two' })).toEqual([]);
    await expectError(
      store.transact((tx) => tx.insertBinding(binding('d'))),
      'binding.exists',
    );
    await expectError(
      store.transact((tx) => tx.insertBinding(binding('d', { instance: 'gone' }))),
      'instance.not_found',
    );
    await store.transact(async (tx) => {
      await tx.deleteApp('shop');
      await tx.deleteBinding('b');
    });
    expect(await ids({ app: 'shop' })).toEqual(['a']);
  },
};
