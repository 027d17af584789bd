/** Instances and bindings on a well-behaved provider: what the app, its environment and the provider have afterwards. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { envRecord } from '../../src/domain/apps/unit-spec.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { expectSoundServices } from '../support/service-invariants.ts';

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

it('are as they are now after going back to an older release', async () => {
  await deployed('shop');
  await create('one');
  await create('two');
  await bind('one', 'shop');
  await world.deploy('shop');
  await unbind('one', 'shop');
  const two = await bind('two', 'shop');
  await world.useCases.deploys.rollback(ANN, 'shop', 'v2', say);
  const now = await env('shop');
  expect(now).toMatchObject(two);
  expect(now).not.toHaveProperty('ONE_URL');
  expect(JSON.parse(now['TSURU_SERVICES'] ?? '')).toEqual({ db: [{ instance_name: 'two', envs: two }] });
  await expectSound(world);
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

it('of twenty apps to one instance at once are twenty, each with one restart', { timeout: 30_000 }, async () => {
  const apps = Array.from({ length: 20 }, (_, n) => `app${n}`);
  for (const app of apps) await deployed(app);
  await create('one');
  const answers = await Promise.all(apps.map((app) => bind('one', app)));
  expect(new Set(answers.map((vars) => vars['ONE_PASSWORD'])).size).toBe(20);
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

it('tell the provider of units that come and go', async () => {
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
