/** Engines on other machines run images: an artifact is pushed with the first release that is to run there, and goes with the last. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryMachine } from '../../src/backends/provisioner/memory/memory-provisioner.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { createRetention } from '../../src/domain/retention.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import type { MemoryImageRegistry } from '../support/memory-image-registry.ts';

const PLATFORM: Caller = { kind: 'platform' };
const NEVER = new AbortController().signal;

let world: DomainWorld;
let elsewhere: MemoryMachine;
let registry: MemoryImageRegistry;

beforeEach(async () => {
  elsewhere = new MemoryMachine('platform', 'images');
  world = await startDomain({ keptReleases: 2 }, elsewhere);
  const { imageRegistry } = world.machine;
  if (imageRegistry === null) throw new Error('there is no registry');
  registry = imageRegistry;
  await world.useCases.pools.create(PLATFORM, { name: 'far', isPublic: true, engine: 'elsewhere' });
  await world.createApp('shop');
});
afterEach(() => world.dispose());

const move = (pool: string) => world.useCases.appChanges.change(ANN, 'shop', { pool });
const release = async () => {
  const app = await world.machine.store.app('shop');
  return world.machine.store.release('shop', app?.release ?? 0);
};
/** The images that units elsewhere were started with. */
const started = (): (string | undefined)[] =>
  [...elsewhere.entries.values()].filter(({ unit }) => unit.exit === null).map(({ spec }) => spec.image);

it('what runs here is pushed nowhere', async () => {
  await world.deploy('shop');
  expect((await release())?.published).toBe('');
  expect(registry.requests).toEqual([]);
});

it('a move pushes what serves, and units get its name with the digest; later releases of the same code push nothing again', async () => {
  await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
  await move('far');
  await world.settled();
  const published = (await release())?.published ?? '';
  expect(published).toMatch(/^registry\.test\/apps\/shop@sha256:[0-9a-f]{64}$/);
  expect(started()).toEqual([published, published]);
  expect(registry.requests).toMatchObject([{ app: 'shop', image: '', processes: { web: 'serve', worker: 'stay' } }]);
  await world.setEnv('shop', { A: '1' });
  await world.restart('shop');
  await world.settled();
  expect((await release())?.published).toBe(published);
  expect(started()).toEqual([published, published]);
  expect(registry.requests).toHaveLength(1);
  world = await world.next();
  await expectSound(world);
});

it('a deploy says what is pushed; a registry that is away fails it, and what serves goes on', async () => {
  await world.deploy('shop');
  await move('far');
  const lines: string[] = [];
  const second = await world.deploy('shop', {}, { say: (line) => lines.push(line) });
  expect(lines).toContain('-----> Pushing the image');
  expect(lines).toContain('       pushed');
  const before = await release();
  registry.isAway = true;
  await expect(world.deploy('shop')).rejects.toMatchObject({
    code: 'deploy.failed',
    details: { cause: 'push_failed' },
  });
  expect(await release()).toEqual(before);
  expect(before?.deployId).toBe(second.id);
  registry.isAway = false;
  await expectSound(world);
});

it('without a registry an app cannot move there, with what an operator can do', async () => {
  world.machine.imageRegistry = null;
  world = await world.next();
  await world.deploy('shop');
  await expect(move('far')).rejects.toMatchObject({
    code: 'unit.failed',
    hint: expect.stringContaining('images.registry') as string,
  });
  expect((await world.machine.store.app('shop'))?.pool).not.toBe('far');
  await expectSound(world);
});

it('goes from the registry with the last release that names it, by its digest, and nothing else does', async () => {
  await world.deploy('shop');
  await move('far');
  for (let count = 0; count < 3; count += 1) await world.deploy('shop');
  await world.settled();
  const named = new Set((await world.machine.store.artifacts(['shop'])).map(({ artifact }) => artifact));
  expect(named.size).toBe(2);
  expect(new Set(registry.images.keys())).toEqual(named);
});

it('what a failed deploy has pushed, and what could not be removed, goes at the next round of retention', async () => {
  await world.deploy('shop');
  await move('far');
  await expect(world.deploy('shop', { processes: { web: 'exit 3' } })).rejects.toMatchObject({ code: 'deploy.failed' });
  expect(registry.images.size).toBe(2);
  const { store, artifacts, imageRegistry, builder, settings, now } = world.machine;
  const { leases, order, auditLog } = world.parts;
  const deps = { store, artifacts, imageRegistry, builder, settings, now, leases, order, auditLog, logger: SILENT };
  await createRetention(deps).run(NEVER);
  expect([...registry.images.keys()]).toEqual([(await release())?.artifact]);
});

it('an app takes its images with it, also when the registry is away', async () => {
  await world.deploy('shop');
  await move('far');
  await world.remove('shop');
  await world.settled();
  expect(registry.images.size).toBe(0);
  await world.createApp('shop');
  await world.deploy('shop');
  await move('far');
  registry.isAway = true;
  await world.remove('shop');
  await world.settled();
  expect(await world.machine.store.app('shop')).toBeNull();
  await expectSound(world);
});
