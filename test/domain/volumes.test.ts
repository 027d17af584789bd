/** Volumes: what may be mounted where, what releases and units have of it, one writer at a time, and their end. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UserCaller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const STRANGER: UserCaller = { ...ANN, email: 'eve@example.com', teams: [] };
const LIMIT = 1_000_000;

let world: DomainWorld;
let said: string[];
const say = (line: string): void => void said.push(line);

beforeEach(async () => {
  said = [];
  world = await startDomain({ volumeMaxBytes: LIMIT });
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const volumes = () => world.useCases.volumes;
const create = (name: string, more: { maxBytes?: number; isSingle?: boolean } = {}) =>
  volumes().create(ANN, 'shop', { name, ...more });
const mount = (name: string, path: string, processes: string[] = []) =>
  volumes().mount(ANN, 'shop', name, { path, processes }, say);

/** Process -> `<volume>:<path>` of every unit that runs. */
function mounted(): string[] {
  const running = [...world.machine.units.entries.values()].filter(({ unit }) => unit.exit === null);
  return running
    .map(({ spec }) => `${spec.process} ${(spec.volumes ?? []).map(({ name, path }) => `${name}:${path}`).join()}`)
    .sort();
}

describe('mounting', () => {
  it('before the first deploy holds from that on; all processes have it, or those that are named', async () => {
    await create('uploads');
    await create('cache');
    await mount('uploads', '/uploads');
    await mount('cache', './data/cache/', ['worker']);
    expect(mounted()).toEqual([]);
    await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
    expect(mounted()).toEqual(['web uploads:/uploads', 'worker cache:data/cache,uploads:/uploads']);
    const shown = (await volumes().list(ANN, 'shop')).map(({ volume, mount: at }) => [volume.name, at?.path, at?.from]);
    expect(shown).toEqual([
      ['cache', 'data/cache', 'set'],
      ['uploads', '/uploads', 'set'],
    ]);
    await expectSound(world);
  });

  it('replaces the units without a failed request; unmounting does, too, and what it holds stays', async () => {
    await create('uploads');
    await world.deploy('shop');
    const before = await world.machine.store.app('shop');
    await mount('uploads', '/uploads');
    expect(mounted()).toEqual(['web uploads:/uploads']);
    expect((await world.machine.store.app('shop'))?.release).toBe((before?.release ?? 0) + 1);
    world.machine.volumes.sizes.set('shop/uploads', 77);
    await volumes().unmount(ANN, 'shop', 'uploads', say);
    expect(mounted()).toEqual(['web ']);
    expect(await volumes().info(ANN, 'shop', 'uploads')).toMatchObject({ mount: null, bytes: 77 });
    await expect(volumes().unmount(ANN, 'shop', 'uploads', say)).rejects.toMatchObject({ code: 'volume.not_mounted' });
    await expectSound(world);
  });

  it('of a stopped app takes effect with its start', async () => {
    await create('uploads');
    await world.deploy('shop');
    await world.useCases.startStop.stop(ANN, 'shop', '', say);
    await mount('uploads', '/uploads');
    await world.useCases.startStop.start(ANN, 'shop', '', say);
    expect(mounted()).toEqual(['web uploads:/uploads']);
    await expectSound(world);
  });

  it('stays with changes of the environment, restarts and scaling, and commands have it', async () => {
    await create('uploads');
    await world.deploy('shop', { hooks: { release: ['exit 0'] } });
    await mount('uploads', '/uploads', ['web']);
    await world.setEnv('shop', { A: 'b' });
    await world.restart('shop');
    await world.useCases.scale.add(ANN, 'shop', { process: 'web', units: 1 }, say);
    expect(mounted()).toEqual(['web uploads:/uploads', 'web uploads:/uploads']);
    const commands: unknown[] = [];
    world.faults.on('provisioner.exec', ([request]) => {
      commands.push((request as { unit: { volumes?: unknown } }).unit.volumes);
    });
    await world.useCases.run.run(ANN, 'shop', { command: 'exit 0', once: true, output: () => {}, signal: NEVER });
    await world.deploy('shop', { hooks: { release: ['exit 0'] } });
    expect(commands).toEqual([[{ name: 'uploads', path: '/uploads' }], [{ name: 'uploads', path: '/uploads' }]]);
  });

  it.each([
    ['/etc/shop', 'volume.invalid'],
    ['/tmp', 'volume.invalid'],
    ['../outside', 'volume.invalid'],
    ['a//b', 'volume.invalid'],
    ['', 'volume.invalid'],
    ['.', 'volume.invalid'],
    ['a:b', 'volume.invalid'],
    ['/data/inner', 'volume.invalid'],
    ['/data', 'volume.invalid'],
  ])('is refused at %j', async (path, code) => {
    await create('data');
    await create('other');
    await mount('data', '/data');
    await expect(mount('other', path)).rejects.toMatchObject({ code });
    expect((await volumes().info(ANN, 'shop', 'other')).mount).toBeNull();
  });

  it('is refused for a process that is not there, a volume that is not there, and who is no member', async () => {
    await create('data');
    await world.deploy('shop');
    await expect(mount('data', '/data', ['clock'])).rejects.toMatchObject({ code: 'process.not_found' });
    await expect(mount('nothing', '/data')).rejects.toMatchObject({ code: 'volume.not_found' });
    const stranger = volumes().mount(STRANGER, 'shop', 'data', { path: '/data' }, say);
    await expect(stranger).rejects.toMatchObject({ code: 'access.denied' });
    await expect(volumes().list(STRANGER, 'shop')).rejects.toMatchObject({ code: 'access.denied' });
  });
});

describe('the file of an app', () => {
  const declared = {
    uploads: { path: '/uploads', processes: [] },
    db: { path: 'db', processes: ['web'], maxBytes: 9 },
  };

  it('has its volumes made and mounted by the first deploy that names them', async () => {
    await world.deploy('shop', { volumes: declared }, { say });
    expect(mounted()).toEqual(['web db:db,uploads:/uploads']);
    expect(said.join('\n')).toContain('Made the volume db, mounted at db');
    expect((await volumes().info(ANN, 'shop', 'db')).volume).toMatchObject({ maxBytes: 9, isSingle: false });
    expect((await volumes().info(ANN, 'shop', 'uploads')).volume.maxBytes).toBe(LIMIT);
    const unmounting = volumes().unmount(ANN, 'shop', 'db', say);
    await expect(unmounting).rejects.toMatchObject({ code: 'volume.mounted', hint: expect.stringContaining('yaml') });
  });

  it('comes after what people have set; what it no longer names is mounted no more', async () => {
    await world.deploy('shop', { volumes: declared });
    await mount('db', '/database');
    await world.deploy('shop', { volumes: declared });
    expect(mounted()).toEqual(['web db:/database,uploads:/uploads']);
    await world.deploy('shop', {});
    expect(mounted()).toEqual(['web db:/database']);
    expect((await volumes().info(ANN, 'shop', 'uploads')).mount).toBeNull();
  });

  it('may not ask for more than there is for it', async () => {
    const deploy = world.deploy('shop', { volumes: { big: { path: '/big', processes: [], maxBytes: LIMIT + 1 } } });
    await expect(deploy).rejects.toMatchObject({ code: 'deploy.failed', details: { cause: 'invalid_config' } });
    expect(await world.machine.store.volumes('shop')).toEqual([]);
  });

  it('going back brings back what was mounted then, and is refused when that is gone', async () => {
    await world.deploy('shop', { volumes: declared });
    await world.deploy('shop', {});
    expect(mounted()).toEqual(['web ']);
    await world.useCases.deploys.rollback(ANN, 'shop', 'v1', say);
    expect(mounted()).toEqual(['web db:db,uploads:/uploads']);
    await world.useCases.deploys.rollback(ANN, 'shop', 'v2', say);
    await volumes().remove(ANN, 'shop', 'db');
    const back = world.useCases.deploys.rollback(ANN, 'shop', 'v1', say);
    await expect(back).rejects.toMatchObject({ hint: expect.stringContaining('tancho volume create db -a shop') });
    await create('db');
    await world.useCases.deploys.rollback(ANN, 'shop', 'v1', say);
    expect(mounted()).toEqual(['web db:db,uploads:/uploads']);
    await expectSound(world);
  });
});

describe('one writer', () => {
  beforeEach(async () => {
    await create('db', { isSingle: true });
    await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
    await mount('db', '/db', ['web']);
  });

  it('the unit that has it has ended before the next one starts, and the push says so', async () => {
    const orders: string[] = [];
    const running = (): number => mounted().filter((line) => line === 'web db:/db').length;
    world.faults.on('provisioner.ensure', ([spec]) => {
      if ((spec as { process: string }).process === 'web') orders.push(`${running()} run`);
    });
    said = [];
    await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } }, { say });
    expect(orders).toEqual(['0 run']);
    expect(said.join('\n')).toMatch(/Only one unit may have the volume db: web shop\/\d is ended before/);
    await world.restart('shop');
    expect(orders).toEqual(['0 run', '0 run']);
    await expectSound(world);
  });

  it('when the next one does not start, the one before serves again', async () => {
    const before = await world.machine.store.app('shop');
    await expect(world.deploy('shop', { processes: { web: 'exit 3' } })).rejects.toMatchObject({
      code: 'deploy.failed',
    });
    expect((await world.machine.store.app('shop'))?.rollout).toBe(before?.rollout);
    await expectSound(world);
    expect(mounted()).toEqual(['web db:/db', 'worker ']);
  });

  it('several units cannot have it', async () => {
    const more = world.useCases.scale.add(ANN, 'shop', { process: 'web', units: 1 }, say);
    await expect(more).rejects.toMatchObject({ code: 'volume.one_writer' });
    await expect(mount('db', '/db')).rejects.toMatchObject({ code: 'volume.one_writer' });
    await volumes().update(ANN, 'shop', 'db', { isSingle: false });
    await mount('db', '/db');
    await world.useCases.scale.add(ANN, 'shop', { process: 'web', units: 1 }, say);
    await expect(volumes().update(ANN, 'shop', 'db', { isSingle: true })).rejects.toMatchObject({
      code: 'volume.one_writer',
    });
    expect((await volumes().info(ANN, 'shop', 'db')).volume.isSingle).toBe(false);
    await expectSound(world);
  });
});

describe('the number', () => {
  it('an app has no more volumes than it may', async () => {
    for (let n = 0; n < 20; n++) await create(`v${n}`);
    await expect(create('one-more')).rejects.toMatchObject({ code: 'quota.exceeded' });
    await expect(create('v1')).rejects.toMatchObject({ code: 'volume.name_taken' });
    await expect(create('Not A Name')).rejects.toMatchObject({ code: 'volume.invalid' });
  });
});

describe('the end', () => {
  it('is refused while it is mounted, or about to be', async () => {
    await create('a');
    await mount('a', '/a');
    await expect(volumes().remove(ANN, 'shop', 'a')).rejects.toMatchObject({ code: 'volume.mounted' });
    await world.deploy('shop');
    await expect(volumes().remove(ANN, 'shop', 'a')).rejects.toMatchObject({ code: 'volume.mounted' });
    await volumes().unmount(ANN, 'shop', 'a', say);
    await volumes().remove(ANN, 'shop', 'a');
    expect(world.machine.volumes.sizes.size).toBe(0);
    await expect(volumes().info(ANN, 'shop', 'a')).rejects.toMatchObject({ code: 'volume.not_found' });
  });

  it('comes with that of the app, which says so', async () => {
    await create('a');
    await mount('a', '/a');
    await world.deploy('shop');
    await world.useCases.apps.remove(ANN, 'shop', say);
    expect(said.join('\n')).toContain('with its volume a and what it holds');
    expect(world.machine.volumes.sizes.size).toBe(0);
    expect(await world.machine.store.volumes()).toEqual([]);
    await expectSound(world);
  });
});

const NEVER = new AbortController().signal;
