/** Going back to an older release: code, environment and processes as they were. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { expectSoundServices } from '../support/service-invariants.ts';

const say = (): void => {};

describe('rollback', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain({ keptReleases: 3 });
    await world.createApp('shop');
  });
  afterEach(() => world.dispose());

  const back = (image: string) => world.useCases.deploys.rollback(ANN, 'shop', image, say);
  const app = async () => (await world.useCases.apps.info(ANN, 'shop')).app;
  const serving = async () => world.machine.store.release('shop', (await app()).release ?? 0);
  const listed = () => world.useCases.deploys.list(ANN, { app: 'shop' });

  it('brings code, environment and processes back, as a new release and a deploy of its own', async () => {
    const first = await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
    await world.setEnv('shop', { A: 'old', B: 'old' });
    await world.deploy('shop');
    await world.setEnv('shop', { A: 'new', C: 'new' });
    await world.unsetEnv('shop', 'B');
    const deploy = await back(first.artifact);
    await expectSound(world);
    expect(deploy).toMatchObject({ origin: 'rollback', commit: first.commit, artifact: first.artifact, release: 6 });
    expect(await serving()).toMatchObject({ number: 6, reason: 'rollback', by: ANN.email, deployId: deploy.id });
    const env = await world.machine.store.env('shop');
    expect(env.map(({ name, value }) => `${name}=${value}`)).toEqual(['A=old', 'B=old']);
    expect(Object.keys((await serving())?.processes ?? {})).toEqual(['web', 'worker']);
    expect((await app()).deploys).toBe(3);
    const [newest] = await listed();
    expect(newest).toMatchObject({ deploy: { id: deploy.id, state: 'done', cause: null }, canRollback: false });
  });

  it('takes a number, a version, an image of another platform, a deploy, and what served before', async () => {
    const first = await world.deploy('shop');
    const second = await world.deploy('shop');
    const artifact = async () => (await serving())?.artifact;
    await back('1');
    expect(await artifact()).toBe(first.artifact);
    await back('v2');
    expect(await artifact()).toBe(second.artifact);
    await back('registry.test/app-shop:v1');
    expect(await artifact()).toBe(first.artifact);
    await back(second.id);
    expect(await artifact()).toBe(second.artifact);
    await back('previous');
    expect(await artifact()).toBe(first.artifact);
    await back('previous');
    expect(await artifact()).toBe(second.artifact);
    await expectSound(world);
  });

  it('undoes a change of the environment, too', async () => {
    await world.deploy('shop');
    await world.setEnv('shop', { A: '1' });
    await back('previous');
    expect(await world.machine.store.env('shop')).toEqual([]);
    await expectSound(world);
  });

  it('says of each deploy whether it can be gone back to, as long as its code is kept', async () => {
    const deploys = [];
    for (let n = 0; n < 4; n++) deploys.push(await world.deploy('shop'));
    await world.settled();
    expect((await listed()).map(({ canRollback }) => canRollback)).toEqual([false, true, true, false]);
    await back('v2');
    await world.settled();
    expect((await listed()).map(({ canRollback }) => canRollback)).toEqual([false, true, true, false, false]);
    await world.deploy('shop');
    await world.deploy('shop');
    await expectSound(world);
    // Kept are the newest three: both deploys, and what the rollback restored.
    expect((await listed()).map(({ canRollback }) => canRollback)).toEqual([
      ...[false, true, true],
      ...[false, false, true, false],
    ]);
    const [, , rolled] = deploys;
    expect(await world.useCases.deploys.info(ANN, rolled?.id ?? '')).toMatchObject({ canRollback: false });
    await expect(back(rolled?.artifact ?? '')).rejects.toMatchObject({ code: 'release.not_found' });
    await expect(back('v1')).rejects.toMatchObject({ code: 'release.not_found' });
  });

  it('that does not come up leaves everything as it was, the old code too', async () => {
    const first = await world.deploy('shop');
    await world.deploy('shop');
    await world.setEnv('shop', { A: '1' });
    const undo = world.faults.on('provisioner.ensure', () => {
      throw new Error('broken');
    });
    await expect(back('v1')).rejects.toMatchObject({ code: 'deploy.failed' });
    undo();
    await expectSound(world);
    expect((await app()).release).toBe(3);
    expect(await world.machine.store.env('shop')).toHaveLength(1);
    expect(world.machine.artifacts.kept.has(first.artifact)).toBe(true);
    await back('v1');
    await expectSound(world);
  });

  it('starts an app that rests, and is refused before the first deploy', async () => {
    await expect(back('v1')).rejects.toMatchObject({ code: 'app.not_deployed' });
    await world.deploy('shop');
    await expect(back('')).rejects.toMatchObject({ code: 'input.invalid' });
    await expect(back('previous')).rejects.toMatchObject({ code: 'release.not_found' });
    await expect(back('../x')).rejects.toMatchObject({ code: 'release.not_found' });
    await world.useCases.startStop.stop(ANN, 'shop', '', say);
    await back('v1');
    expect((await app()).desired).toBe('running');
    await expectSound(world);
  });
});

crashAtEveryStep({
  name: 'a rollback',
  isFresh: true,
  async prepare(world, app) {
    await world.createApp(app);
    await world.setEnv(app, { A: 'old' });
    await world.deploy(app);
    await world.setEnv(app, { A: 'new' });
    await world.deploy(app);
  },
  operation: (world, app) => world.useCases.deploys.rollback(ANN, app, 'v1', say),
  async check(world, app, { acknowledged }) {
    const { store, artifacts } = world.machine;
    const release = await store.release(app, (await store.app(app))?.release ?? 0);
    const isBack = release?.reason === 'rollback';
    expect((await store.env(app)).map(({ value }) => value)).toEqual([isBack ? 'old' : 'new']);
    if (acknowledged) expect(isBack).toBe(true);
    for (const { artifact } of await store.artifacts([app])) expect(artifacts.kept.has(artifact)).toBe(true);
  },
});

crashAtEveryStep({
  name: 'a rollback to other bindings',
  isFresh: true,
  async prepare(world, app) {
    const { services, instances, bindings } = world.useCases;
    if ((await world.machine.store.service('db')) === null) {
      const manifest = 'id: db\npassword: s\nendpoint:\n  production: http://x\n';
      await services.create(ANN, parseManifest(manifest));
      for (const name of ['one', 'two']) await instances.create(ANN, { name, service: 'db' });
    }
    await world.createApp(app);
    await world.deploy(app);
    await bindings.bind(ANN, 'one', app, {}, say);
    await bindings.unbind(ANN, 'one', app, {}, say);
    await bindings.bind(ANN, 'two', app, {}, say);
  },
  operation: (world, app) => world.useCases.deploys.rollback(ANN, app, 'v2', say),
  async check(world, app, { acknowledged }) {
    await expectSoundServices(world);
    const { store } = world.machine;
    const release = await store.release(app, (await store.app(app))?.release ?? 0);
    const isBack = release?.reason === 'rollback';
    const bound = await store.bindings({ app });
    const names = await Promise.all(bound.map(async ({ instance }) => (await store.instanceById(instance))?.name));
    expect(names).toEqual([isBack ? 'one' : 'two']);
    if (acknowledged) expect(isBack).toBe(true);
  },
});
