/** More and fewer units, rest and start: the units that stay are never touched. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const BOTH = { processes: { web: 'serve', worker: 'stay' } };
const say = (): void => {};

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const add = (units: unknown, process = '') => world.useCases.scale.add(ANN, 'shop', { units, process }, say);
const remove = (units: unknown, process = '') => world.useCases.scale.remove(ANN, 'shop', { units, process }, say);
const start = (process = '') => world.useCases.startStop.start(ANN, 'shop', process, say);
const stop = (process = '') => world.useCases.startStop.stop(ANN, 'shop', process, say);
const app = async () => (await world.useCases.apps.info(ANN, 'shop')).app;

async function ids(process: string): Promise<string[]> {
  const { units } = await world.useCases.apps.info(ANN, 'shop');
  return units.filter((unit) => unit.process === process).map((unit) => unit.id);
}

const routed = (): number => world.machine.table().routes.find((route) => route.app === 'shop')?.targets.length ?? -1;

describe('units', () => {
  it('are added and removed without touching those that stay, by new releases', async () => {
    await world.deploy('shop', BOTH);
    const [web] = await ids('web');
    const worker = await ids('worker');
    await add('2');
    expect(await ids('web')).toHaveLength(3);
    expect((await ids('web'))[0]).toBe(web);
    await add(1, 'worker');
    await expectSound(world);
    expect(routed()).toBe(3);
    await remove(2, 'web');
    expect(await ids('web')).toEqual([web]);
    await remove(2, 'worker');
    expect(await ids('worker')).toEqual([]);
    await expectSound(world);
    expect(worker).toHaveLength(1);
    const release = await world.machine.store.release('shop', (await app()).release ?? 0);
    expect(release).toMatchObject({ number: 5, reason: 'scale', by: ANN.email });
    expect(release?.processes).toEqual({ web: { command: 'serve', count: 1 }, worker: { command: 'stay', count: 0 } });
  });

  it('keep their number through deploys, variables and restarts', async () => {
    await world.deploy('shop', BOTH);
    await add(1);
    await world.deploy('shop', BOTH);
    await world.setEnv('shop', { A: '1' });
    await world.restart('shop');
    await expectSound(world);
    expect([(await ids('web')).length, (await ids('worker')).length]).toEqual([2, 1]);
  });

  it('that do not come up leave everything as it was', async () => {
    await world.deploy('shop', BOTH);
    const before = await ids('web');
    const undo = world.faults.on('provisioner.ready', () => {
      throw new Error('no more memory');
    });
    await expect(add(2)).rejects.toThrow();
    undo();
    await expectSound(world);
    expect(await ids('web')).toEqual(before);
    expect((await app()).release).toBe(1);
    await add(2);
    await expectSound(world);
    expect((await app()).release).toBe(2);
  });

  it('that are dead go first', async () => {
    await world.deploy('shop', BOTH);
    await add(1);
    const [first = '', second = ''] = await ids('web');
    const held = world.faults.hold('provisioner.ensure');
    await world.machine.units.entries.get(first)?.unit.signal('SIGKILL');
    await held.reached;
    await remove(1);
    expect(await ids('web')).toEqual([second]);
    held.release();
    await expectSound(world);
  });

  it.each([
    ['no number', () => add(''), 'unit.invalid_count'],
    ['zero', () => add('0'), 'unit.invalid_count'],
    ['a fraction', () => add('1.5'), 'unit.invalid_count'],
    ['a negative number', () => remove('-1'), 'unit.invalid_count'],
    ['too many', () => add(1_000), 'unit.invalid_count'],
    ['more than there are', () => remove(2), 'unit.too_few'],
    ['all that answer', () => remove(1), 'unit.too_few'],
    ['an unknown process', () => add(1, 'clock'), 'process.not_found'],
  ])('are refused: %s', async (_what, work, code) => {
    await world.deploy('shop', BOTH);
    await expect(work()).rejects.toMatchObject({ code });
    expect((await app()).release).toBe(1);
  });

  it('are refused before the first deploy', async () => {
    await expect(add(1)).rejects.toMatchObject({ code: 'app.not_deployed' });
    await expect(start()).rejects.toMatchObject({ code: 'app.not_deployed' });
    await expect(stop()).rejects.toMatchObject({ code: 'app.not_deployed' });
  });

  it('need a process to be named when there are several and none is called web', async () => {
    await world.deploy('shop', { processes: { one: 'stay', two: 'stay' } });
    await expect(add(1)).rejects.toMatchObject({ code: 'process.required' });
    await add(1, 'two');
    expect(await ids('two')).toHaveLength(2);
  });
});

describe('rest', () => {
  it('ends every unit and keeps the release; start brings it back', async () => {
    await world.deploy('shop', BOTH);
    await stop();
    expect(await world.useCases.apps.info(ANN, 'shop')).toMatchObject({ state: 'stopped', units: [] });
    expect(routed()).toBe(0);
    expect(world.machine.table().routes[0]?.note).toBe('The app "shop" is stopped.');
    await world.settled();
    expect(await world.machine.store.units('shop')).toEqual([]);
    await stop();
    await start();
    expect((await app()).release).toBe(1);
    expect(routed()).toBe(1);
    await expectSound(world);
    await start();
    await expectSound(world);
  });

  it('stores variables and counts for the next start', async () => {
    await world.deploy('shop', BOTH);
    await stop();
    await world.setEnv('shop', { A: 'later' });
    await add(1);
    expect(await world.useCases.apps.info(ANN, 'shop')).toMatchObject({ state: 'stopped', units: [] });
    await start();
    await expectSound(world);
    expect(await ids('web')).toHaveLength(2);
    const [unit = ''] = await ids('web');
    expect(world.machine.units.entries.get(unit)?.spec.env).toMatchObject({ A: 'later' });
  });

  it('of one process leaves the others alone, also when they change', async () => {
    await world.deploy('shop', BOTH);
    const web = await ids('web');
    await stop('worker');
    expect([await ids('web'), await ids('worker')]).toEqual([web, []]);
    await world.setEnv('shop', { A: '1' });
    await add(1, 'worker');
    expect(await ids('worker')).toEqual([]);
    await expect(world.useCases.apps.restart(ANN, 'shop', say, 'worker')).rejects.toMatchObject({
      code: 'app.stopped',
    });
    await start('worker');
    expect(await ids('worker')).toHaveLength(2);
    await expectSound(world);
    await stop('worker');
    await stop('web');
    expect(await app()).toMatchObject({ desired: 'stopped', stoppedProcesses: [] });
    await start('web');
    expect(await app()).toMatchObject({ desired: 'running', stoppedProcesses: ['worker'] });
    await world.deploy('shop', BOTH);
    expect([(await ids('web')).length, (await ids('worker')).length]).toEqual([1, 2]);
    await expectSound(world);
  });

  it('ends with a deploy', async () => {
    await world.deploy('shop', BOTH);
    await stop();
    await expect(world.restart('shop')).rejects.toMatchObject({ code: 'app.stopped' });
    await world.deploy('shop', BOTH);
    expect((await app()).desired).toBe('running');
    await expectSound(world);
  });

  it('lasts over a restart of the platform', async () => {
    await world.deploy('shop', BOTH);
    await stop();
    world = await world.next();
    await world.settled();
    expect(await world.useCases.apps.info(ANN, 'shop')).toMatchObject({ state: 'stopped', units: [] });
    expect(await world.machine.store.units('shop')).toEqual([]);
  });

  it('is not begun when a start fails', async () => {
    await world.deploy('shop', BOTH);
    await stop();
    const undo = world.faults.on('provisioner.ensure', () => {
      throw new Error('broken');
    });
    await expect(start()).rejects.toThrow();
    undo();
    expect(await world.useCases.apps.info(ANN, 'shop')).toMatchObject({ state: 'stopped', units: [] });
    await start();
    await expectSound(world);
  });
});

it('a restart of one process replaces its units and no others', async () => {
  await world.deploy('shop', BOTH);
  const [web, worker] = [await ids('web'), await ids('worker')];
  await world.useCases.apps.restart(ANN, 'shop', say, 'worker');
  expect(await ids('web')).toEqual(web);
  expect(await ids('worker')).not.toEqual(worker);
  expect(await ids('worker')).toHaveLength(1);
  await expectSound(world);
});

it('the quota of the app holds for more units, never for fewer', async () => {
  await world.deploy('shop', BOTH);
  await add(2);
  await world.machine.store.transact((tx) => tx.setAppLimit('shop', 3));
  await expect(add(1)).rejects.toMatchObject({ code: 'quota.exceeded' });
  await stop('worker');
  await stop('web');
  await expect(start()).rejects.toMatchObject({ code: 'quota.exceeded' });
  await expect(add(1)).rejects.toMatchObject({ code: 'quota.exceeded' });
  await remove(1);
  await start();
  await expectSound(world);
});
