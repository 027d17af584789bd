/** Deploys of images: the same way as those of code, and nothing that is shared with another release is ever thrown away. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import { createUploads } from '../../src/domain/deploys/uploads.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';

const NEVER = new AbortController().signal;
const DETAILS = { user: '', origin: 'image' };
const NAME = 'registry.test/team/shop:1';
const ONE = `sha256:${'1'.repeat(64)}`;
const TWO = `sha256:${'2'.repeat(64)}`;

function deploy(world: DomainWorld, app: string, name = NAME, say = (_: string): void => {}): Promise<Deploy> {
  return world.useCases.uploads.image(ANN, app, name, DETAILS, say, NEVER);
}

async function causeOf(failing: Promise<unknown>): Promise<unknown> {
  try {
    await failing;
    return 'none';
  } catch (error) {
    return error instanceof PlatformError ? (error.details['cause'] ?? error.code) : error;
  }
}

describe('an image', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain({ keptReleases: 2 });
    world.machine.images.images.set(NAME, { digest: ONE });
    await world.createApp('shop');
  });
  afterEach(() => world.dispose());

  const release = async (number: number) => world.machine.store.release('shop', number);

  it('is deployed, and named by deploy, release and event', async () => {
    const lines: string[] = [];
    const made = await deploy(world, 'shop', NAME, (line) => lines.push(line));
    await expectSound(world);
    const image = `${NAME}@${ONE}`;
    expect(made).toMatchObject({ origin: 'image', image, commit: '', state: 'done', release: 1 });
    expect(await release(1)).toMatchObject({ image, artifact: made.artifact, reason: 'deploy' });
    expect(lines.join('\n')).toMatch(/Pulling registry\.test\/team\/shop:1\n +pulled\n[^]*Release 1 answers/);
    await world.setEnv('shop', { A: '1' });
    expect(await release(2)).toMatchObject({ image, artifact: made.artifact });
  });

  it('that is there already is shared, and stays when the deploy of it fails or its older release goes', async () => {
    const first = await deploy(world, 'shop');
    const again = await deploy(world, 'shop');
    expect(again.artifact).toBe(first.artifact);
    world.machine.images.images.set(NAME, { digest: ONE, processes: { web: 'exit 3' } });
    expect(await causeOf(deploy(world, 'shop'))).toBe('exited');
    await expectSound(world);
    expect([...world.machine.artifacts.kept.keys()]).toEqual([first.artifact]);
    for (let n = 0; n < 3; n += 1) await world.deploy('shop');
    await world.settled();
    expect(world.machine.artifacts.kept.has(first.artifact)).toBe(false);
    await expectSound(world);
  });

  it('can be gone back to by its name, with its digest or without', async () => {
    await deploy(world, 'shop');
    world.machine.images.images.set(NAME, { digest: TWO });
    await deploy(world, 'shop');
    const back = (image: string) => world.useCases.deploys.rollback(ANN, 'shop', image, () => {});
    expect(await back(`${NAME}@${ONE}`)).toMatchObject({ origin: 'rollback', image: `${NAME}@${ONE}`, release: 3 });
    expect(await back(`${NAME}@${TWO}`)).toMatchObject({ image: `${NAME}@${TWO}`, release: 4 });
    // The newest release that was meant by the name, not the release whose number is the tag.
    expect(await back(NAME)).toMatchObject({ image: `${NAME}@${TWO}`, release: 5 });
    await expectSound(world);
  });

  it('that cannot be had, or is none, leaves everything as it is', async () => {
    await world.deploy('shop');
    expect(await causeOf(deploy(world, 'shop', 'registry.test/other'))).toBe('pull_failed');
    expect(await causeOf(deploy(world, 'shop', 'Not An Image'))).toBe('input.invalid');
    const odd = world.useCases.uploads.image(ANN, 'shop', NAME, { user: '', origin: 'git' }, () => {}, NEVER);
    expect(await causeOf(odd)).toBe('input.invalid');
    const stop = AbortSignal.abort();
    expect(await causeOf(world.useCases.uploads.image(ANN, 'shop', NAME, DETAILS, () => {}, stop))).toBe('cancelled');
    await expectSound(world);
    expect((await world.machine.store.app('shop'))?.release).toBe(1);
  });

  it('is refused before anything is recorded, where units cannot run it', async () => {
    const { store, gitHost, probe, settings } = world.machine;
    const limits = { restarts: 'platform', controls: 'several', memoryLimit: true, cpuLimit: true } as const;
    const few = { images: false, artifacts: 'directories', volumes: 'below the code', links: false } as const;
    const supports = { shell: true, ...few, ...limits };
    const engine = { name: 'process', description: 'user: one system user per app', poolOptions: {}, supports };
    const uploads = createUploads({
      store,
      probe,
      settings,
      holders: () => Promise.resolve([]),
      gitHost,
      deploys: world.useCases.deploys,
      archiveSource: { open: () => expect.unreachable() },
      provisioner: { at: () => engine },
    });
    const error = await uploads.image(ANN, 'shop', NAME, DETAILS, () => {}, NEVER).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unsupported', hint: expect.stringContaining('install bubblewrap') as string });
    expect((error as Error).message).toContain('user: one system user per app');
    expect(await store.deploys({ limit: 10, skip: 0 })).toEqual([]);
  });
});

for (const [name, before] of [
  ['a new image', TWO],
  ['an image that is there', ONE],
] as const) {
  crashAtEveryStep({
    name: `a deploy of ${name}`,
    async prepare(world, app) {
      await world.createApp(app);
      world.machine.images.images.set(NAME, { digest: before });
      await deploy(world, app);
      world.machine.images.images.set(NAME, { digest: ONE });
    },
    operation: (world, app, run) => {
      // Each run finds one that is not there yet, or the one that is.
      const digest = before === ONE ? ONE : `sha256:${run.toString(16).padStart(64, '0')}`;
      world.machine.images.images.set(NAME, { digest });
      return deploy(world, app);
    },
    async check(world, app, { acknowledged, before: app0 }) {
      const old = app0?.release ?? 0;
      const serving = (await world.machine.store.app(app))?.release ?? 0;
      expect(acknowledged ? [old + 1] : [old, old + 1]).toContain(serving);
      const [newest] = await world.machine.store.deploys({ apps: [app], limit: 1, skip: 0 });
      expect(['done', 'failed']).toContain(newest?.state);
    },
  });
}
