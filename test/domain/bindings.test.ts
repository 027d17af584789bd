/** Instances and bindings on a well-behaved provider: what the app, its environment and the provider have afterwards. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Fault } from '../../src/backends/service-endpoint/memory/faults.ts';
import { envRecord } from '../../src/domain/units/unit-spec.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { unitHosts } from '../../src/domain/services/unit-hosts.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { expectSoundServices } from '../support/service-invariants.ts';
import { SLOW } from '../support/slow.ts';
import { until } from '../support/until.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.useCases.services.create(ANN, parseManifest('id: db\npassword: s\nendpoint:\n  production: http://x\n'));
});
afterEach(() => world.dispose());

const say = (): void => {};
const create = (name: string) => world.useCases.instances.create(ANN, { name, service: 'db' });
const bind = (instance: string, app: string, options = {}) =>
  world.useCases.bindings.bind(ANN, instance, app, options, say);
const unbind = (instance: string, app: string, options = {}) =>
  world.useCases.bindings.unbind(ANN, instance, app, options, say);
const env = async (app: string): Promise<Record<string, string>> => envRecord(await world.machine.store.env(app));

async function deployed(app: string): Promise<void> {
  await world.createApp(app);
  await world.setEnv(app, { OWN: 'kept' });
  await world.deploy(app);
}

it('give a running app the variables, with one restart, and take exactly these away again', async () => {
  await deployed('shop');
  await create('one');
  const before = await world.machine.store.app('shop');
  const vars = await bind('one', 'shop');
  const bound = await env('shop');
  expect(Object.keys(vars)).toEqual(['ONE_PASSWORD', 'ONE_URL']);
  expect(bound).toMatchObject({ OWN: 'kept', ...vars });
  expect(JSON.parse(bound['TSURU_SERVICES'] ?? '')).toEqual({ db: [{ instance_name: 'one', envs: vars }] });
  expect(bound['TANCHO_SERVICES']).toBe(bound['TSURU_SERVICES']);
  const stored = (await world.machine.store.env('shop')).filter(({ name }) => name !== 'OWN');
  expect(stored.map((variable) => variable.public)).toEqual([false, false, false, false]);
  expect(stored[0]?.managedBy).toBe('one');
  expect((await world.machine.store.app('shop'))?.release).toBe((before?.release ?? 0) + 1);
  await expectSound(world);
  await expectSoundServices(world);
  await unbind('one', 'shop');
  expect(await env('shop')).toEqual({ OWN: 'kept' });
  await expectSound(world);
  await expectSoundServices(world);
  expect([...world.machine.endpoint.instances.values()][0]?.bindings.size).toBe(0);
});

it('of the same variables: the later one wins, and with its end the earlier one is back', async () => {
  await deployed('shop');
  world.machine.endpoint.variables = (instance, _binding, serial) => ({ SAME: `${instance.name} ${serial}` });
  await create('one');
  await create('two');
  await bind('one', 'shop');
  await bind('two', 'shop', { noRestart: true });
  expect((await env('shop'))['SAME']).toBe('two 2');
  await unbind('two', 'shop');
  expect((await env('shop'))['SAME']).toBe('one 1');
  await unbind('one', 'shop');
  expect(await env('shop')).toEqual({ OWN: 'kept' });
  await expectSound(world);
  await expectSoundServices(world);
});

it('are refused where they would change what is not theirs, and nothing is left of them', async () => {
  await deployed('shop');
  await create('one');
  world.machine.endpoint.variables = () => ({ OWN: 'mine' });
  await expect(bind('one', 'shop')).rejects.toMatchObject({ code: 'binding.conflict' });
  for (const name of ['PORT', 'TANCHO_APP_TOKEN', 'TSURU_SERVICES', 'no name', '']) {
    world.machine.endpoint.variables = () => ({ [name]: 'x' });
    await expect(bind('one', 'shop')).rejects.toMatchObject({ code: 'provider.failed' });
  }
  expect(await env('shop')).toEqual({ OWN: 'kept' });
  await expectSoundServices(world);
  world.machine.endpoint.variables = () => ({ URL: 'x' });
  await bind('one', 'shop');
  await expect(bind('one', 'shop')).rejects.toMatchObject({ code: 'binding.exists' });
  for (const name of ['URL', 'TSURU_SERVICES']) {
    await expect(world.setEnv('shop', { [name]: 'mine' })).rejects.toMatchObject({
      code: name === 'URL' ? 'binding.conflict' : 'env.invalid',
    });
    await expect(world.unsetEnv('shop', name)).rejects.toMatchObject({ code: 'binding.conflict' });
  }
  await expect(world.useCases.instances.remove(ANN, 'one')).rejects.toMatchObject({ code: 'instance.bound' });
  await expect(world.useCases.services.remove(ANN, 'db')).rejects.toMatchObject({ code: 'service.has_instances' });
  await unbind('one', 'shop');
  await expect(unbind('one', 'shop')).rejects.toMatchObject({ code: 'binding.not_found' });
  await world.useCases.instances.remove(ANN, 'one');
  await world.useCases.services.remove(ANN, 'db');
  expect(world.machine.endpoint.instances.size).toBe(0);
});

it('are undone at the provider when the app does not start with them', async () => {
  await world.createApp('shop');
  await world.deploy('shop', { processes: { web: 'serve' } });
  await create('one');
  world.faults.on('provisioner.ensure', () => {
    throw new Error('no room');
  });
  await expect(bind('one', 'shop')).rejects.toThrow();
  expect(await env('shop')).toEqual({});
  expect([...world.machine.endpoint.instances.values()][0]?.bindings.size).toBe(0);
  await expectSoundServices(world);
});

const back = (image: string, lines: string[] = [], by = ANN) =>
  world.useCases.deploys.rollback(by, 'shop', image, (line) => void lines.push(line));
const boundAtProvider = (): string[] =>
  [...world.machine.endpoint.instances.values()]
    .flatMap(({ name, bindings }) => (bindings.size > 0 ? [name] : []))
    .sort();

it('come back with an older release, with credentials that work, and those since then go', async () => {
  await deployed('shop');
  await create('one');
  await create('two');
  const one = await bind('one', 'shop');
  await world.deploy('shop');
  await unbind('one', 'shop');
  await bind('two', 'shop');
  await back('v2');
  const now = await env('shop');
  expect(Object.keys(now)).toEqual(['ONE_PASSWORD', 'ONE_URL', 'OWN', 'TANCHO_SERVICES', 'TSURU_SERVICES']);
  expect(now['ONE_PASSWORD']).not.toBe(one['ONE_PASSWORD']);
  expect(boundAtProvider()).toEqual(['one']);
  await expectSound(world);
  await expectSoundServices(world);
  await back('previous');
  expect(boundAtProvider()).toEqual(['two']);
  await back('v1');
  expect(await env('shop')).toEqual({ OWN: 'kept' });
  expect(boundAtProvider()).toEqual([]);
  await expectSound(world);
  await expectSoundServices(world);
});

it('that are still bound keep their credentials when an older release comes back', async () => {
  await deployed('shop');
  await create('one');
  const one = await bind('one', 'shop');
  const [binding] = await world.machine.store.bindingSummaries();
  await world.setEnv('shop', { OWN: 'new' });
  await back('v2');
  expect(await env('shop')).toMatchObject({ ...one, OWN: 'kept' });
  expect((await world.machine.store.bindingSummaries()).map(({ id }) => id)).toEqual([binding?.id]);
  await expectSoundServices(world);
});

it('of instances that are gone, were made anew, or belong to others now do not come back, which is said', async () => {
  await deployed('shop');
  for (const name of ['one', 'two', 'three']) {
    await create(name);
    await bind(name, 'shop');
  }
  await world.deploy('shop');
  for (const name of ['one', 'two', 'three']) await unbind(name, 'shop');
  await world.useCases.instances.remove(ANN, 'one');
  await world.useCases.instances.remove(ANN, 'two');
  await create('two');
  const [three] = (await world.machine.store.instances()).filter(({ name }) => name === 'three');
  await world.machine.store.transact((tx) => tx.updateInstance(three?.id ?? '', { teams: [] }));
  const lines: string[] = [];
  await back('v5', lines, { ...ANN, isAdmin: false });
  expect(lines.filter((line) => line.includes('Not bound again')).sort()).toEqual([
    ` !     Not bound again: ${ANN.email} has no access to three.`,
    ' !     Not bound again: one is not there any more.',
    ' !     Not bound again: two is not there any more.',
  ]);
  expect(await env('shop')).toEqual({ OWN: 'kept' });
  await expectSoundServices(world);
});

it('that cannot come back keep the release from coming back, and nothing is changed', async () => {
  await deployed('shop');
  for (const name of ['one', 'two']) {
    await create(name);
    await bind(name, 'shop');
  }
  for (const name of ['one', 'two']) await unbind(name, 'shop');
  const before = await world.machine.store.app('shop');
  for (const [fault, code] of [
    ['refuses', 'provider.failed'],
    ['hangs after', 'provider.failed'],
  ] as const) {
    world.machine.deadlines = { createMs: 40, changeMs: 40, lookMs: 40 };
    world = await world.next();
    const coming: Fault[] = ['none', fault];
    world.machine.fault = () => coming.shift() ?? 'none';
    await expect(back('v3')).rejects.toMatchObject({ code });
    const [event] = await world.machine.store.events(1);
    expect(event).toMatchObject({ action: 'app.rollback', target: 'app:shop', error: code });
  }
  world.faults.on('provisioner.ensure', () => {
    throw new Error('no room');
  });
  await expect(back('v3')).rejects.toMatchObject({ code: 'deploy.failed' });
  expect((await world.machine.store.app('shop'))?.release).toBe(before?.release);
  expect(await env('shop')).toEqual({ OWN: 'kept' });
  expect(boundAtProvider()).toEqual([]);
  await expectSoundServices(world);
});

it('go with their app, at the provider too', async () => {
  await deployed('shop');
  await create('one');
  await bind('one', 'shop');
  await world.remove('shop');
  await expectSoundServices(world);
  expect([...world.machine.endpoint.instances.values()][0]?.bindings.size).toBe(0);
  await world.useCases.instances.remove(ANN, 'one');
});

it('of many apps to one instance at once are as many, each with one restart', async () => {
  // More than the listeners of which Node warns.
  const apps = Array.from({ length: SLOW ? 20 : 12 }, (_, n) => `app${n}`);
  for (const app of apps) await deployed(app);
  await create('one');
  const warnings: Error[] = [];
  // Of too many listeners for one thing; other warnings of the process are not this test's.
  const onWarning = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning);
  };
  process.on('warning', onWarning);
  const { release } = world.faults.hold('endpoint.bind');
  const binding = Promise.all(apps.map((app) => bind('one', app)));
  const begun = async (): Promise<boolean> => (await world.machine.store.bindingSummaries()).length === apps.length;
  await until(begun, { what: 'all of them to be asked for at once' });
  release();
  const answers = await binding;
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
  expect(new Set(answers.map((vars) => vars['ONE_PASSWORD'])).size).toBe(apps.length);
  for (const [at, app] of apps.entries()) {
    expect(await env(app)).toMatchObject(answers[at] ?? {});
    expect((await world.machine.store.app(app))?.release).toBe(2);
  }
  await expectSound(world);
  await expectSoundServices(world);
  await Promise.all(apps.map((app) => unbind('one', app)));
  await expectSound(world);
  await expectSoundServices(world);
});

it('inform the provider of units that come and go', async () => {
  await deployed('shop');
  await create('one');
  await bind('one', 'shop');
  await world.useCases.scale.add(ANN, 'shop', { process: 'web', units: 2 }, say);
  await expectSoundServices(world);
  const [kept] = [...([...world.machine.endpoint.instances.values()][0]?.bindings.values() ?? [])];
  expect(kept?.units.size).toBe(3);
  await world.restart('shop');
  await expectSoundServices(world);
});

it('take back the unit that a provider learned of on the way', async () => {
  await deployed('shop');
  await create('one');
  world.machine.endpoint.isOld = true;
  await bind('one', 'shop');
  await expectSoundServices(world);
  const [kept] = [...([...world.machine.endpoint.instances.values()][0]?.bindings.values() ?? [])];
  const [serving] = await unitHosts(world.machine.store, 'shop');
  expect([...(kept?.units ?? [])]).toEqual([serving]);
  await unbind('one', 'shop');
  expect(kept?.units.size).toBe(0);
});
