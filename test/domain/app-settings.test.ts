/** What is set on an app in place of files in its source, and counts that are set before there is anything to count. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const say = (): void => {};
const processes = { web: 'serve', worker: 'stay', clock: 'stay' };

const change = (given: object): Promise<void> => world.useCases.appChanges.change(ANN, 'shop', given);
const set = (process: string, units: number): Promise<void> =>
  world.useCases.scale.set(ANN, 'shop', { process, units }, say);

async function counts(): Promise<Record<string, number>> {
  const units = await world.machine.store.units('shop');
  const found: Record<string, number> = { web: 0, worker: 0, clock: 0 };
  for (const { process } of units) found[process] = (found[process] ?? 0) + 1;
  return found;
}

it('counts can be set before the first deploy, 0 too; they come before those of the files', async () => {
  await set('worker', 0);
  await set('web', 2);
  const settings = { worker: { count: 3 }, clock: { count: 2 } };
  await world.deploy('shop', { processes, settings });
  expect(await counts()).toEqual({ web: 2, worker: 0, clock: 2 });
  await world.deploy('shop', { processes, settings: { ...settings, clock: { count: 1 } } });
  expect(await counts()).toEqual({ web: 2, worker: 0, clock: 1 });
  await expectSound(world);
});

it('counts that are set, or changed by more and fewer, stay with the next deploys', async () => {
  await world.deploy('shop', { processes });
  await set('worker', 3);
  await set('clock', 0);
  await world.useCases.scale.add(ANN, 'shop', { process: 'web', units: 1 }, say);
  const expected = { web: 2, worker: 3, clock: 0 };
  expect(await counts()).toEqual(expected);
  await world.deploy('shop', { processes, settings: { web: { count: 7 }, clock: { count: 7 } } });
  expect(await counts()).toEqual(expected);
  await expectSound(world);
});

it.each([
  ['web', 0, 'unit.too_few'],
  ['web', 101, 'unit.invalid_count'],
  ['no name', 1, 'input.invalid'],
  ['release', 1, 'input.invalid'],
])('refuses %s=%d before the first deploy', async (process, units, code) => {
  await expect(set(process, units)).rejects.toMatchObject({ code });
  expect((await world.useCases.apps.info(ANN, 'shop')).app.settings.counts).toEqual({});
});

it('settings are given to the builder, are part of the release, and come back with it', async () => {
  await change({ startCommands: { web: 'serve' }, buildCommand: 'make', root: './apps/web/', keepDevPackages: 'true' });
  await world.deploy('shop');
  const first = { startCommands: { web: 'serve' }, buildCommand: 'make', root: 'apps/web', keepDevPackages: true };
  expect(world.machine.builder.lastRequest?.settings).toMatchObject(first);
  await change({ startCommands: { web: '' }, buildCommand: '', root: '', description: 'a shop' });
  const settings = { startCommands: {}, buildCommand: '', root: '', keepDevPackages: true };
  await world.setEnv('shop', { A: '1' });
  const serving = await world.machine.store.release('shop', 2);
  expect(serving?.settings).toMatchObject(first);
  await world.deploy('shop');
  expect((await world.machine.store.release('shop', 3))?.settings).toMatchObject(settings);
  await world.useCases.deploys.rollback(ANN, 'shop', 'v1', say);
  expect((await world.useCases.apps.info(ANN, 'shop')).app.settings).toMatchObject(first);
  await world.deploy('shop');
  expect(world.machine.builder.lastRequest?.settings).toMatchObject(first);
});

it.each([
  [{ root: '../x' }],
  [{ root: 'a/../b' }],
  [{ buildCommand: 'a\nb' }],
  [{ startCommands: 'web' }],
  [{ startCommands: { 'no name': 'x' } }],
  [{ startCommands: { web: 7 } }],
  [{ keepDevPackages: 'perhaps' }],
])('refuses %j, and changes nothing', async (given) => {
  await expect(change({ ...given, description: 'changed' })).rejects.toMatchObject({ code: 'input.invalid' });
  expect((await world.useCases.apps.info(ANN, 'shop')).app).toMatchObject({ description: '' });
});
