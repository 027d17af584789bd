/** What volumes may hold: full ones are reported, and those that hold much more are read-only for units, whoever has them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PLATFORM } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { until } from '../support/until.ts';

const LIMIT = 1_000_000;

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain({ volumeMaxBytes: LIMIT });
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const volumes = () => world.useCases.volumes;
const create = (name: string, more: { maxBytes?: number } = {}) => volumes().create(ANN, 'shop', { name, ...more });
const mount = (name: string, path: string, processes: string[] = []) =>
  volumes().mount(ANN, 'shop', name, { path, processes }, () => {});

it('users have what the server allows at most, admins give more', async () => {
  expect((await create('a')).volume.maxBytes).toBe(LIMIT);
  for (const maxBytes of [0, LIMIT + 1, -1, 0.5]) {
    await expect(create('b', { maxBytes })).rejects.toMatchObject({ code: 'volume.invalid' });
  }
  await expect(volumes().update(ANN, 'shop', 'a', { maxBytes: LIMIT * 2 })).rejects.toMatchObject({
    code: 'volume.invalid',
  });
  const view = await volumes().update(PLATFORM, 'shop', 'a', { maxBytes: LIMIT * 2 });
  expect(view.volume.maxBytes).toBe(LIMIT * 2);
});

it('a full volume is reported in the app, the diagnosis and once in the log, until it holds less', async () => {
  await create('a', { maxBytes: 100 });
  await world.deploy('shop');
  const problems = async () => (await world.useCases.apps.info(ANN, 'shop')).problems;
  world.machine.volumes.sizes.set('shop/a', 99);
  await world.parts.volumeWatch.look();
  expect(await problems()).toEqual([]);
  world.machine.volumes.sizes.set('shop/a', 100);
  for (const _ of [1, 2]) await world.parts.volumeWatch.look();
  expect(await problems()).toEqual([expect.stringMatching(/^The volume a is full: .* tancho volume update a --size/)]);
  expect((await world.useCases.diagnoses.ofApp(ANN, 'shop')).notes).toEqual(await problems());
  const reported = await world.machine.logStore.query({ app: 'shop', lines: 100 });
  expect(reported.filter(({ message }) => message.includes('is full'))).toHaveLength(1);
  await volumes().update(ANN, 'shop', 'a', { maxBytes: 200 });
  await world.parts.volumeWatch.look();
  expect(await problems()).toEqual([]);
});

it('one that holds much more than it may is read-only for units until it holds less', async () => {
  await create('a', { maxBytes: 100 });
  await create('b', { maxBytes: 100 });
  await mount('a', '/a', ['web']);
  await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
  const { sizes, restricted } = world.machine.volumes;
  sizes.set('shop/a', 105);
  await world.parts.volumeWatch.look();
  expect([...restricted]).toEqual([]);
  sizes.set('shop/a', 106);
  for (const _ of [1, 2]) await world.parts.volumeWatch.look();
  expect([...restricted]).toEqual(['shop/a']);
  const exits = async () => (await world.machine.store.units('shop')).map((unit) => [unit.process, unit.exits]).sort();
  expect(await exits()).toEqual([
    ['web', 1],
    ['worker', 0],
  ]);
  const { problems } = await world.useCases.apps.info(ANN, 'shop');
  expect(problems.join()).toMatch(/The volume a is read-only for units: it holds .* tancho volume update a --size/);
  sizes.set('shop/a', null);
  await world.parts.volumeWatch.look();
  expect([...restricted]).toEqual(['shop/a']);
  expect((await world.useCases.apps.info(ANN, 'shop')).problems).toEqual(problems);
  sizes.set('shop/a', 99);
  await until(
    async () => {
      await world.parts.volumeWatch.look();
      return restricted.size === 0;
    },
    { what: 'it to be counted again' },
  );
  const reported = (await world.machine.logStore.query({ app: 'shop', lines: 100 })).map(({ message }) => message);
  for (const text of [
    /its volume a holds .* is read-only/,
    /^The volume a is read-only/,
    /has room again.*app restart -a shop/,
  ])
    expect(
      reported.filter((message) => text.test(message)),
      String(text),
    ).toHaveLength(1);
  await until(async () => (await exits()).length === 2, { what: 'the units' });
  await world.settled();
  await expectSound(world);
});

it('units that write one that holds too much are ended, also those that do not serve yet and those that an earlier look has left', async () => {
  await create('a', { maxBytes: 100 });
  await mount('a', '/a');
  await world.deploy('shop');
  const { sizes, restricted } = world.machine.volumes;
  const starting = world.faults.hold('provisioner.ready');
  const deploy = world.deploy('shop', { processes: { web: 'sleep 1000000; serve' } });
  const failed = expect(deploy).rejects.toMatchObject({ code: 'deploy.failed' });
  await starting.reached;
  // As after a look that was cut off.
  restricted.add('shop/a');
  sizes.set('shop/a', 106);
  await world.parts.volumeWatch.look();
  starting.release();
  await failed;
  const text = (await world.machine.logStore.query({ app: 'shop', lines: 100 })).map(({ message }) => message).join();
  expect(text).toMatch(/, which does not serve, holds too much on the disk: its volume a holds/);
  const [unit, ...others] = await world.machine.store.units('shop');
  expect([others, unit?.exits, unit?.lastExit?.outgrown]).toEqual([[], 1, true]);
  await until(async () => (await world.machine.store.units('shop'))[0]?.state === 'started', {
    what: 'its next life',
  });
  await world.parts.volumeWatch.look();
  expect((await world.machine.store.units('shop'))[0]?.exits).toBe(1);
  await world.settled();
  await expectSound(world);
});

it('one that takes long to be counted keeps nobody else waiting, and is held to its size when it is', async () => {
  for (const name of ['a', 'b']) await create(name, { maxBytes: 100 });
  await world.deploy('shop');
  const { sizes, late, restricted } = world.machine.volumes;
  const counting = Promise.withResolvers<number>();
  late.set('shop/a', counting.promise);
  sizes.set('shop/a', null);
  sizes.set('shop/b', 106);
  await world.parts.volumeWatch.look();
  expect([...restricted]).toEqual(['shop/b']);
  await world.parts.volumeWatch.look();
  counting.resolve(107);
  await until(() => restricted.has('shop/a'), { what: 'what was counted to hold' });
  late.set('shop/a', Promise.resolve(99));
  await until(
    async () => {
      await world.parts.volumeWatch.look();
      return !restricted.has('shop/a');
    },
    { what: 'the next count' },
  );
});

it('one that takes long to be counted is not counted anew before as long again has passed, and is written at once when it was given more', async () => {
  await create('a', { maxBytes: 100 });
  await world.deploy('shop');
  const { sizes, late, restricted } = world.machine.volumes;
  const counting = Promise.withResolvers<number>();
  late.set('shop/a', counting.promise);
  sizes.set('shop/a', null);
  let counts = 0;
  world.faults.on('volumeHost.size', ([, limit]) => {
    if ((limit as { withinMs?: number } | undefined)?.withinMs !== undefined) counts += 1;
  });
  await world.parts.volumeWatch.look();
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_600_000);
  try {
    counting.resolve(107);
    await until(() => restricted.has('shop/a'), { what: 'what was counted to hold' });
  } finally {
    clock.mockRestore();
  }
  for (const _ of [1, 2]) await world.parts.volumeWatch.look();
  await volumes().update(ANN, 'shop', 'a', { maxBytes: 108 });
  await world.parts.volumeWatch.look();
  expect([...restricted]).toEqual([]);
  expect(counts).toBe(1);
});

it('one whose quota cannot be set is counted all the same', async () => {
  await create('a', { maxBytes: 100 });
  await world.deploy('shop');
  world.faults.on('volumeHost.hold', () => Promise.reject(new Error('setquota failed')));
  world.machine.volumes.sizes.set('shop/a', 106);
  await world.parts.volumeWatch.look();
  expect([...world.machine.volumes.restricted]).toEqual(['shop/a']);
});

it('one without a limit any more is written again', async () => {
  await create('a', { maxBytes: 100 });
  await world.deploy('shop');
  world.machine.volumes.sizes.set('shop/a', 200);
  await world.parts.volumeWatch.look();
  await volumes().update(PLATFORM, 'shop', 'a', { maxBytes: 0 });
  await world.parts.volumeWatch.look();
  expect([...world.machine.volumes.restricted]).toEqual([]);
});

it('they are looked at as soon as so much less is free that one may hold too much', async () => {
  const MIB = 1024 ** 2;
  await create('a', { maxBytes: LIMIT });
  await world.deploy('shop');
  let free = 5_000 * MIB;
  world.machine.probe.space = { freeBytes: free, totalBytes: free, freeFiles: 9, totalFiles: 10 };
  await world.parts.volumeWatch.check();
  world.machine.volumes.sizes.set('shop/a', 2 * LIMIT);
  free -= LIMIT;
  world.machine.probe.space = { ...world.machine.probe.space, freeBytes: free };
  await world.parts.volumeWatch.check();
  expect([...world.machine.volumes.restricted]).toEqual([]);
  world.machine.probe.space = { ...world.machine.probe.space, freeBytes: free - LIMIT };
  await world.parts.volumeWatch.check();
  expect([...world.machine.volumes.restricted]).toEqual(['shop/a']);
});

it('room for files is room of volumes, too', async () => {
  await create('a', { maxBytes: LIMIT });
  await world.deploy('shop');
  world.machine.probe.space = { freeBytes: 9e12, totalBytes: 9e12, freeFiles: 9e6, totalFiles: 9e6 };
  await world.parts.volumeWatch.check();
  world.machine.volumes.sizes.set('shop/a', 2 * LIMIT);
  await world.parts.volumeWatch.check();
  expect([...world.machine.volumes.restricted]).toEqual([]);
  world.machine.probe.space = { ...world.machine.probe.space, freeFiles: 9e6 - 1_000 };
  await world.parts.volumeWatch.check();
  expect([...world.machine.volumes.restricted]).toEqual(['shop/a']);
});

it('a new one, and a new limit, is looked at whatever is free', async () => {
  await world.deploy('shop');
  await world.parts.volumeWatch.check();
  await create('a', { maxBytes: LIMIT });
  world.machine.volumes.sizes.set('shop/a', 2 * LIMIT);
  await world.parts.volumeWatch.check();
  expect([...world.machine.volumes.restricted]).toEqual(['shop/a']);
  await volumes().update(PLATFORM, 'shop', 'a', { maxBytes: 3 * LIMIT });
  await world.parts.volumeWatch.check();
  expect([...world.machine.volumes.restricted]).toEqual([]);
});
