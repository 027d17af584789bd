import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import type { Caller, UserCaller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { Audit } from './audit.ts';
import { SILENT } from '../../lib/logger.ts';

const EVE: Caller = { ...ANN, email: 'eve@example.com', teams: ['others'] };

const ADMIN: UserCaller = { ...ANN, email: 'admin@example.com', isAdmin: true, teams: [] };

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  const createdAt = new Date().toISOString();
  await world.machine.store.transact((tx) =>
    tx.insertUser({ email: ADMIN.email, passwordHash: '', isAdmin: true, createdAt }),
  );
});
afterEach(() => world.dispose());

const events = (action: string) => world.machine.store.events(1_000, { action });

describe('a change', () => {
  it('and its event are one transaction: what a crash leaves is both or none', async () => {
    await world.createApp('shop');
    for (const moment of ['before', 'after'] as const) {
      const name = `www.${moment}.example.com`;
      world.faults.arm({ call: 1, moment, only: 'store.transact' });
      void world.useCases.cnames.add(ANN, 'shop', [name]);
      await world.faults.crashed;
      world = await world.next();
      const isDone = (await world.machine.store.app('shop'))?.cname.includes(name);
      const recorded = (await events('app.cname_add')).map(({ target, actor }) => `${target} ${actor}`);
      expect([isDone, recorded], moment).toEqual(moment === 'before' ? [false, []] : [true, [`app:shop ${ANN.email}`]]);
    }
    // Nothing says how it ended: that moment nobody lived to see.
    expect((await events('app.cname_add'))[0]).toMatchObject({ endedAt: '', error: '' });
  });

  it('has one event, however many transactions it takes, with its end', async () => {
    await world.createApp('shop');
    await world.deploy('shop');
    await world.setEnv('shop', { A: 'b' });
    const [event, ...others] = await events('env.set');
    expect(others).toEqual([]);
    expect(event).toMatchObject({ target: 'app:shop', actor: ANN.email, error: '', isRefusal: false });
    expect(event?.endedAt).not.toBe('');
    expect(await world.machine.store.event(event?.id ?? '')).toEqual(event);
  });

  it('has an event of bounded size, however much it names', async () => {
    await world.createApp('shop');
    const names = Array.from({ length: 900 }, (_, n) => `UNKNOWN_${n}`);
    await world.useCases.env.unset(ANN, 'shop', names, { noRestart: true }, () => {});
    const detail = (await events('env.unset'))[0]?.detail ?? '';
    expect(detail).toContain('UNKNOWN_0 UNKNOWN_1 ');
    expect(detail.length).toBeLessThanOrEqual(1_001);
  });

  it('that fails half-way has the code of its failure', async () => {
    await world.createApp('shop');
    const undo = world.faults.on('gitHost.remove', () => Promise.reject(new Error('the disk is away')));
    await expect(world.remove('shop')).rejects.toThrow();
    undo();
    expect(await events('app.remove')).toMatchObject([{ target: 'app:shop', error: 'internal', isRefusal: false }]);
  });

  it('whose answer was lost is recorded once, with its end', async () => {
    await world.createApp('shop');
    const { store } = world.machine;
    const undo = world.faults.on('store.transact', async ([work]) => {
      await store.transact(work as Parameters<typeof store.transact>[0]);
      undo();
      throw new Error('the connection is gone');
    });
    await expect(world.useCases.cnames.add(ANN, 'shop', ['www.example.com'])).rejects.toThrow();
    const [event, ...others] = await events('app.cname_add');
    expect([event?.error, others]).toEqual(['internal', []]);
    expect(event?.endedAt).not.toBe('');
  });

  it('is not recorded where its transaction was rolled back, but as an attempt', async () => {
    await world.createApp('shop');
    await expect(world.createApp('shop')).rejects.toMatchObject({ code: 'app.name_taken' });
    expect((await events('app.create')).map(({ error }) => error)).toEqual(['app.name_taken', '']);
  });
});

describe('a refusal', () => {
  it('is recorded with who and why, once', async () => {
    await world.createApp('shop');
    for (let n = 0; n < 3; n += 1) {
      const refused = world.useCases.apps.remove(EVE, 'shop', () => {});
      await expect(refused).rejects.toMatchObject({ code: 'access.denied' });
    }
    await expect
      .poll(() => events('app.remove'))
      .toMatchObject([{ actor: 'eve@example.com', target: 'app:shop', error: 'access.denied', isRefusal: true }]);
  });

  it('that a use case has recorded is not recorded again by a door', async () => {
    await world.createApp('shop');
    const thrown = await world.useCases.apps.remove(EVE, 'shop', () => {}).catch((error: unknown) => error);
    world.useCases.audit.refused({ caller: EVE, action: 'apps.remove', target: 'app:shop' }, thrown);
    world.useCases.audit.refused({ caller: EVE, action: 'last', target: '' }, new PlatformError('input.invalid', 'x'));
    await expect.poll(() => events('last')).toHaveLength(1);
    expect(await events('apps.remove')).toEqual([]);
  });

  it('of a flood takes a bounded number of events, and is counted', async () => {
    const { store } = world.machine;
    let ms = Date.now();
    const audit = new Audit({ store, logger: SILENT, now: () => new Date(ms) });
    const before = (await store.events(10_000)).length;
    for (let n = 0; n < 5_000; n += 1) {
      const caller: Caller = { kind: 'anonymous', address: `203.0.113.${n % 250}` };
      const denied = (): PlatformError => new PlatformError('auth.required', 'Who are you?');
      audit.refused(
        { caller, action: 'apps.create', target: `app:made-up-${n}`, detail: 'x'.repeat(10_000) },
        denied(),
      );
    }
    audit.refused({ caller: EVE, action: 'apps.create', target: '' }, new PlatformError('input.invalid', 'x'));
    ms += 60 * 60_000;
    await audit.close();
    const all = (await store.events(10_000)).slice(0, -before || undefined);
    expect(all.length).toBeLessThan(100);
    expect(all.every(({ detail }) => detail.length < 300)).toBe(true);
    // Who is known is recorded all the same, and nobody is lost from the count.
    expect(all.filter(({ actor }) => actor === 'eve@example.com')).toHaveLength(1);
    const counted = all
      .filter(({ actor }) => actor === 'anonymous')
      .map(({ detail }) => Number(/(\d+) more (?:like|of)/.exec(detail)?.[1] ?? 1));
    expect(counted.reduce((sum, more) => sum + more, 0)).toBe(5_000);
  });
});

describe('what is changed', () => {
  const changesOf = async (action: string) => (await events(action))[0]?.changes;

  it('of plans, platforms, logins at registries and alerts is reported before and after, and secrets never', async () => {
    const { plans, registries, alerts } = world.useCases;
    await plans.create(ADMIN, {
      name: 'large',
      memoryBytes: 512 * 1024 ** 2,
      cpuMillis: 0,
      cpuShare: 0,
      diskBytes: 0,
      isDefault: false,
    });
    expect(await changesOf('plan.create')).toContainEqual({
      field: 'memory_bytes',
      before: null,
      after: `${512 * 1024 ** 2}`,
    });
    await plans.remove(ADMIN, 'large');
    expect(await changesOf('plan.remove')).toContainEqual({
      field: 'memory_bytes',
      before: `${512 * 1024 ** 2}`,
      after: null,
    });
    const login = { host: 'registry.example.com', team: '', user: 'robot', password: 'topsecret-1' };
    await registries.login(ADMIN, login);
    await registries.login(ADMIN, { ...login, password: 'topsecret-2' });
    expect(await changesOf('registry.login')).toEqual([
      { field: 'of all teams password', before: '(private)', after: '(private)' },
    ]);
    await alerts.change(ADMIN, { mail: ['ops@example.com'] });
    expect(await changesOf('alert.update')).toEqual([{ field: 'mail', before: '[]', after: '["ops@example.com"]' }]);
    expect(JSON.stringify(await world.machine.store.events(1_000))).not.toContain('topsecret');
  });

  it('of how the edge treats requests is reported with the app', async () => {
    await world.createApp('shop');
    await world.useCases.appEdge.change(ANN, 'shop', { sticky: true });
    expect((await changesOf('app.edge'))?.map(({ field }) => field)).toEqual(['edge']);
  });
});
