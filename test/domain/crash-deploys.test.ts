/** A crash at any moment of a deploy, a good or a bad one: it is done or failed, and the old version served meanwhile. */
import { expect } from 'vitest';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import type { DomainWorld } from '../support/domain-world.ts';

const HOOKS = { restartBefore: ['print migrating'], restartAfter: ['print warm'] };

async function deployed(world: DomainWorld, app: string): Promise<void> {
  await world.createApp(app);
  await world.deploy(app);
}

async function serving(world: DomainWorld, app: string): Promise<number | null> {
  return (await world.machine.store.app(app))?.release ?? null;
}

async function newestDeploy(world: DomainWorld, app: string): Promise<Deploy | undefined> {
  const [newest] = await world.machine.store.deploys({ apps: [app], limit: 1, skip: 0 });
  return newest;
}

/** Not by expect().rejects: vitest waits for it at the end, and what a crash cut off never ends. */
async function causeOf(failing: Promise<unknown>): Promise<unknown> {
  try {
    await failing;
    return 'none';
  } catch (error) {
    return error instanceof PlatformError ? error.details['cause'] : error;
  }
}

crashAtEveryStep({
  name: 'the first deploy',
  isFresh: true,
  prepare: (world, app) => world.createApp(app),
  operation: (world, app) => world.deploy(app, { processes: { web: 'serve', worker: 'stay' }, hooks: HOOKS }),
  async check(world, app, { acknowledged }) {
    const deploy = await newestDeploy(world, app);
    const release = await serving(world, app);
    if (acknowledged) expect(release).toBe(1);
    if (deploy !== undefined) expect(deploy.state).toBe(release === 1 ? 'done' : 'failed');
    if (deploy?.state === 'failed') expect(deploy).toMatchObject({ cause: 'interrupted', release: null });
  },
});

crashAtEveryStep({
  name: 'a push',
  isFresh: true,
  prepare: (world, app) => world.createApp(app),
  operation: (world, app) => world.deploy(app, {}, { isPush: true }),
  async check(world, app, { acknowledged }) {
    const release = await serving(world, app);
    if (acknowledged) expect(release).toBe(1);
    const { store, gitHost } = world.machine;
    const served = release === null ? null : await store.release(app, release);
    expect(gitHost.branches.get(app)).toBe(served?.commit);
  },
});

crashAtEveryStep({
  name: 'the second deploy',
  prepare: deployed,
  operation: (world, app) => world.deploy(app),
  async check(world, app, { acknowledged, before }) {
    const old = before?.release ?? 0;
    const release = await serving(world, app);
    expect(acknowledged ? [old + 1] : [old, old + 1]).toContain(release);
    expect((await world.machine.store.app(app))?.deploys).toBe(release);
  },
});

crashAtEveryStep({
  name: 'a deploy whose units do not come up',
  prepare: deployed,
  async operation(world, app) {
    const processes = { web: 'serve', worker: 'print oh no; exit 3' };
    expect(await causeOf(world.deploy(app, { processes }))).toBe('exited');
  },
  async check(world, app, { before, acknowledged }) {
    expect(await serving(world, app)).toBe(before?.release);
    if (acknowledged) expect(await newestDeploy(world, app)).toMatchObject({ state: 'failed', cause: 'exited' });
  },
});

crashAtEveryStep({
  name: 'a deploy whose build fails',
  prepare: deployed,
  async operation(world, app) {
    expect(await causeOf(world.deploy(app, { failure: 'build_failed' }))).toBe('build_failed');
  },
  async check(world, app, { before, acknowledged }) {
    expect(await serving(world, app)).toBe(before?.release);
    if (acknowledged) expect(await newestDeploy(world, app)).toMatchObject({ state: 'failed', cause: 'build_failed' });
  },
});
