/** What somebody whose change failed reads of its cause, and of what is there now. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlatformError, toPlatformError } from '../../src/domain/errors.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

let world: DomainWorld;
let said: string[];
const say = (line: string): void => void said.push(line);
beforeEach(async () => {
  said = [];
  world = await startDomain();
  await world.createApp('shop');
  await world.deploy('shop');
});
afterEach(() => world.dispose());

it('code that cannot be laid out is the cause, and nothing broke inside the platform', async () => {
  world.faults.on('builder.build', () => {
    throw new PlatformError('deploy.invalid_source', 'What was pushed is not a commit.', { hint: 'Push a branch.' });
  });
  await expect(world.deploy('shop', {}, { say })).rejects.toMatchObject({ details: { cause: 'invalid_source' } });
  expect(said.join('\n')).toContain('Deploy failed (invalid_source): What was pushed is not a commit.');
  expect(said.join('\n')).toContain('Push a branch.');
});

it('of an app that is stopped nobody says that it serves', async () => {
  const { startStop } = world.useCases;
  await startStop.stop(ANN, 'shop', '', say);
  const deploying = world.deploy('shop', { processes: { web: 'exit 3' } }, { say });
  await expect(deploying).rejects.toMatchObject({ code: 'deploy.failed' });
  expect(said.join('\n')).toContain('The app stays stopped, with your previous version (release 1).');
  world.machine.artifacts.kept.clear();
  await expect(startStop.start(ANN, 'shop', '', say)).rejects.toThrow(/Nothing has changed: the app stays stopped\.$/);
});

it('a full disk is reported as one, of a deploy and of any other change', async () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const undo = world.faults.on('builder.build', () => Promise.reject(full));
  await expect(world.deploy('shop', {}, { say })).rejects.toMatchObject({ details: { cause: 'disk_full' } });
  undo();
  expect(said.join('\n')).toContain('Deploy failed (disk_full): The disk of the server is full.');
  world.faults.on('provisioner.ensure', () => Promise.reject(full));
  await expect(
    world.restart('shop').catch((error: unknown) => Promise.reject(toPlatformError(error))),
  ).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^The disk of the server is full\b/) as string,
  });
});

it('a commit whose answer was lost on its way is a commit: what serves is left alone', async () => {
  const { store } = world.machine;
  const serves = async (): Promise<number | null | undefined> => (await store.app('shop'))?.release;
  const undo = world.faults.on('store.transact', async ([work]) => {
    const isReady = (await store.units('shop')).some(({ release, state }) => release === 2 && state === 'started');
    if (!isReady || (await serves()) !== 1) return;
    await store.transact(work as Parameters<typeof store.transact>[0]);
    if ((await serves()) === 2) throw new Error('the connection is gone');
  });
  const { id, release } = await world.deploy('shop');
  undo();
  await world.settled();
  expect([release, await serves()]).toEqual([2, 2]);
  expect(await store.deploy(id)).toMatchObject({ state: 'done', error: '' });
  await expectSound(world);
});

it('the code of a deploy stays as long as nobody can say whether it serves', async () => {
  const { store, artifacts } = world.machine;
  const away = (): never => {
    throw new Error('the store is away');
  };
  const undo: (() => void)[] = [];
  undo.push(
    world.faults.on('store.transact', async ([work]) => {
      const isReady = (await store.units('shop')).some(({ release, state }) => release === 2 && state === 'started');
      if (!isReady) return;
      if ((await store.app('shop'))?.release === 1) await store.transact(work as Parameters<typeof store.transact>[0]);
      if ((await store.app('shop'))?.release === 1) return;
      if (undo.length === 1) undo.push(...['store.rollout', 'store.units'].map((name) => world.faults.on(name, away)));
      away();
    }),
  );
  await expect(world.deploy('shop')).rejects.toMatchObject({ code: 'deploy.failed' });
  for (const end of undo) end();
  const artifact = (await store.release('shop', 2))?.artifact ?? '';
  expect(artifacts.kept.has(artifact)).toBe(true);
  world = await world.next();
  await world.settled();
  expect(await store.app('shop')).toMatchObject({ release: 2 });
  await expectSound(world);
});
