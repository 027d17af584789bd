/** Variables of bindings under names of the app's own: said when binding or by the app's file, kept, and restored with a release. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { envRecord } from '../../src/domain/units/unit-spec.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { expectSoundServices } from '../support/service-invariants.ts';

let world: DomainWorld;
const say = (): void => {};
beforeEach(async () => {
  world = await startDomain();
  await world.useCases.services.create(ANN, parseManifest('id: db\npassword: s\nendpoint:\n  production: http://x\n'));
  world.machine.endpoint.variables = (instance, _binding, serial) => ({
    DATABASE_URL: `${instance.name} ${serial}`,
    DATABASE_HOST: instance.name,
  });
  await world.createApp('shop');
  await world.deploy('shop');
  for (const name of ['one', 'two']) await world.useCases.instances.create(ANN, { name, service: 'db' });
});
afterEach(() => world.dispose());

const bind = (instance: string, names?: Record<string, string>) =>
  world.useCases.bindings.bind(ANN, instance, 'shop', names === undefined ? {} : { names }, say);
const unbind = (instance: string) => world.useCases.bindings.unbind(ANN, instance, 'shop', {}, say);
const back = (release: string) => world.useCases.deploys.rollback(ANN, 'shop', release, say);

async function env(): Promise<Record<string, string>> {
  const { TSURU_SERVICES: _old, TANCHO_SERVICES: _new, ...rest } = envRecord(await world.machine.store.env('shop'));
  return rest;
}

async function expectAllSound(): Promise<void> {
  await expectSound(world);
  await expectSoundServices(world);
}

describe('said when binding', () => {
  it('two databases that give the same names are both there', async () => {
    const vars = await bind('one', { FIRST_URL: 'DATABASE_URL', FIRST_HOST: 'DATABASE_HOST' });
    expect(Object.keys(vars)).toEqual(['FIRST_HOST', 'FIRST_URL']);
    await bind('two');
    expect(await env()).toEqual({
      FIRST_URL: 'one 1',
      FIRST_HOST: 'one',
      DATABASE_URL: 'two 2',
      DATABASE_HOST: 'two',
    });
    const described = envRecord(await world.machine.store.env('shop'))['TANCHO_SERVICES'] ?? '';
    expect(JSON.parse(described)).toMatchObject({
      db: [{ instance_name: 'one', envs: { DATABASE_URL: 'one 1' }, names: { FIRST_URL: 'DATABASE_URL' } }, {}],
    });
    await expectAllSound();
    await unbind('one');
    expect(await env()).toEqual({ DATABASE_URL: 'two 2', DATABASE_HOST: 'two' });
    await expectAllSound();
  });

  it('one may have two names', async () => {
    await bind('one', { A: 'DATABASE_URL', B: 'DATABASE_URL' });
    expect(await env()).toEqual({ A: 'one 1', B: 'one 1', DATABASE_HOST: 'one' });
  });

  it.each<[Record<string, string>, string]>([
    [{ A: 'NOTHING' }, 'input.invalid'],
    [{ DATABASE_HOST: 'DATABASE_URL' }, 'binding.conflict'],
    [{ OWN: 'DATABASE_URL' }, 'binding.conflict'],
  ])('%j is refused, and nothing is bound', async (names, code) => {
    await world.setEnv('shop', { OWN: 'mine' });
    await expect(bind('one', names)).rejects.toMatchObject({ code });
    expect(await env()).toEqual({ OWN: 'mine' });
    expect((await world.machine.store.bindings({ app: 'shop' })).filter(({ state }) => state === 'bound')).toEqual([]);
    await expectAllSound();
  });

  it('stays with deploys, also of a file that says otherwise', async () => {
    await bind('one', { A: 'DATABASE_URL' });
    await world.deploy('shop', { bindingNames: { one: { B: 'DATABASE_URL' } } });
    expect(await env()).toEqual({ A: 'one 1', DATABASE_HOST: 'one' });
    await expectAllSound();
  });
});

describe('going back', () => {
  it('brings an instance that is bound no more back under the names of then', async () => {
    await bind('one', { A: 'DATABASE_URL' });
    await unbind('one');
    await back('v2');
    expect(await env()).toEqual({ A: 'one 2', DATABASE_HOST: 'one' });
    await expectAllSound();
  });

  it('calls one that is bound otherwise now as it was called then', async () => {
    await bind('one', { A: 'DATABASE_URL' });
    await unbind('one');
    await bind('one', { B: 'DATABASE_URL' });
    await back('v2');
    expect(await env()).toEqual({ A: 'one 2', DATABASE_HOST: 'one' });
    await expectAllSound();
    await back('v4');
    expect(await env()).toEqual({ B: 'one 2', DATABASE_HOST: 'one' });
    await expectAllSound();
  });
});

describe('the file of an app', () => {
  const file = { one: { A: 'DATABASE_URL' } };

  it('counts from its deploy on, for what is bound and what will be, and no longer when it says nothing', async () => {
    await bind('one');
    await world.deploy('shop', { bindingNames: file });
    expect(await env()).toEqual({ A: 'one 1', DATABASE_HOST: 'one' });
    await expectAllSound();
    await unbind('one');
    await bind('one');
    expect(await env()).toEqual({ A: 'one 2', DATABASE_HOST: 'one' });
    await world.deploy('shop');
    expect(await env()).toEqual({ DATABASE_URL: 'one 2', DATABASE_HOST: 'one' });
    await back('previous');
    expect(await env()).toEqual({ A: 'one 2', DATABASE_HOST: 'one' });
    await expectAllSound();
  });

  it('that asks for what is not given, or is the own name of the app, fails the deploy with the reason', async () => {
    await bind('one');
    await world.setEnv('shop', { OWN: 'mine' });
    const before = await env();
    for (const names of [{ A: 'NOTHING' }, { OWN: 'DATABASE_URL' }]) {
      const deploy = world.deploy('shop', { bindingNames: { one: names } });
      await expect(deploy).rejects.toMatchObject({ code: 'deploy.failed', details: { cause: 'invalid_config' } });
    }
    expect(await env()).toEqual(before);
    await expectAllSound();
  });
});
