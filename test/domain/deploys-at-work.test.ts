/** Deploys that wait and build: what goes on meanwhile, who is served when, and how they are cancelled and replaced. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Deploy, Push } from '../../src/domain/deploys/deploy.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import type { Recipe } from '../support/memory-builds.ts';

const say = (): void => {};
const STEPS = ['store.transact', 'builder.build', 'provisioner.ensure', 'provisioner.ready', 'router.apply'];

let world: DomainWorld;

async function start(settings: Parameters<typeof startDomain>[0] = {}): Promise<void> {
  world = await startDomain(settings);
  await world.createApp('shop');
  await world.deploy('shop');
}

afterEach(() => world.dispose());

const newest = async (app = 'shop'): Promise<Deploy | undefined> =>
  (await world.machine.store.deploys({ apps: [app], limit: 1, skip: 0 }))[0];
const serving = async (app = 'shop') => (await world.machine.store.app(app))?.release;
const listed = async (app: string) => (await world.useCases.deploys.list(ANN, { app }))[0];
const causeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { details?: { cause?: string } }) => error.details?.cause ?? error,
  );

/** As a push does it. */
function push(app: string, recipe: Recipe, given: Partial<Push> = {}, lines: string[] = []): Promise<Deploy> {
  const commit = randomHex(40);
  world.machine.gitHost.commit(app, commit, recipe);
  const at = {
    ref: 'refs/heads/main',
    begin: async () => {},
    hold: async () => {},
    move: async () => {},
    over: Promise.resolve(),
    ...given,
  };
  const source = world.machine.gitHost.source(app, commit);
  const code = { source, commit, origin: 'git', push: at } as const;
  return world.useCases.deploys.deploy(ANN, app, code, (line) => lines.push(line), new AbortController().signal);
}

describe('while a deploy builds', () => {
  beforeEach(() => start());

  it('the app can be changed in every way, and the new release has the changes', async () => {
    const { useCases, machine } = world;
    await world.setEnv('shop', { OLD: 'x' });
    const build = world.faults.hold('builder.build');
    const deploying = world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
    await build.reached;
    await world.restart('shop');
    await world.setEnv('shop', { NEW: 'y' });
    await world.unsetEnv('shop', 'OLD');
    await useCases.scale.add(ANN, 'shop', { process: 'web', units: 2 }, say);
    await useCases.deploys.rollback(ANN, 'shop', 'previous', say);
    await world.setEnv('shop', { LATE: 'z' });
    await useCases.startStop.stop(ANN, 'shop', '', say);
    await useCases.startStop.start(ANN, 'shop', '', say);
    build.release();
    const { release } = await deploying;
    await expectSound(world);
    const made = await machine.store.release('shop', release ?? 0);
    expect(made?.env.map(({ name }) => name)).toEqual(expect.arrayContaining(['LATE', 'NEW']));
    expect(made?.processes['worker']?.count).toBe(1);
    expect(await serving()).toBe(release);
  });

  it('an app that is stopped meanwhile stays stopped, with the new release', async () => {
    const build = world.faults.hold('builder.build');
    const lines: string[] = [];
    const deploying = world.deploy('shop', {}, { say: (line) => lines.push(line) });
    await build.reached;
    await world.useCases.startStop.stop(ANN, 'shop', '', say);
    build.release();
    const { release } = await deploying;
    expect(await world.machine.store.app('shop')).toMatchObject({ desired: 'stopped', release });
    expect(lines.join('\n')).toContain(`its next start runs release ${release}`);
    await expectSound(world);
  });

  it('a removal of the app ends it, and nothing of it is left', async () => {
    const build = world.faults.hold('builder.build');
    const deploying = causeOf(world.deploy('shop'));
    await build.reached;
    const removing = world.remove('shop');
    build.release();
    await removing;
    expect(await deploying).toBe('cancelled');
    await expectSound(world);
    expect(world.machine.artifacts.kept.size).toBe(0);
  });

  it('whoever has lost the right meanwhile changes nothing', async () => {
    const build = world.faults.hold('builder.build');
    const deploying = causeOf(world.deploy('shop'));
    await build.reached;
    await world.machine.store.transact((tx) => tx.removeMember('crew', ANN.email));
    build.release();
    expect(await deploying).toBe('cancelled');
    expect(await serving()).toBe(1);
  });

  it('healers leave it alone', async () => {
    const build = world.faults.hold('builder.build');
    const deploying = world.deploy('shop');
    await build.reached;
    await world.useCases.healers.run({ ...ANN, isAdmin: true }, 'operations');
    build.release();
    expect((await deploying).release).toBe(2);
  });

  it('a crash makes it, and one that waits for it, interrupted', async () => {
    const build = world.faults.hold('builder.build');
    void causeOf(world.deploy('shop'));
    await build.reached;
    void causeOf(world.deploy('shop'));
    await expect.poll(async () => (await listed('shop'))?.waitsFor).toBe('waiting for another deploy of shop');
    world = await world.next();
    const deploys = await world.machine.store.deploys({ apps: ['shop'], limit: 9, skip: 0 });
    expect(deploys.map(({ cause }) => cause)).toEqual(['interrupted', 'interrupted', null]);
    await expectSound(world);
  });
});

describe('a cancelled deploy', () => {
  beforeEach(() => start());

  it('ends as cancelled by somebody at each step before its commit, and leaves nothing', async () => {
    const ends = new Set<string>();
    let cancelled = 0;
    for (let at = 1; at < 60; at++) {
      const before = await serving();
      let calls = 0;
      let cancelling: Promise<unknown> | null = null;
      const undo = STEPS.map((step) =>
        world.faults.on(step, async () => {
          calls += 1;
          if (calls !== at) return;
          const { id = '' } = (await newest()) ?? {};
          cancelling = causeOf(world.useCases.deploys.cancel(ANN, 'shop', id));
          // So that the deploy goes on when it has been asked to end.
          await new Promise((resolve) => setImmediate(resolve));
        }),
      );
      const lines: string[] = [];
      const how = await causeOf(world.deploy('shop', {}, { say: (line) => lines.push(line) }));
      for (const off of undo) off();
      await cancelling;
      await expectSound(world);
      ends.add(String(how));
      if (how === 'cancelled') {
        cancelled += 1;
        expect(await serving()).toBe(before);
        expect(await newest()).toMatchObject({
          state: 'cancelled',
          error: `Cancelled by ${ANN.email}.`,
          release: null,
        });
        expect(lines.join('\n')).toContain(`Deploy cancelled: Cancelled by ${ANN.email}.`);
      }
      if (calls < at) break;
    }
    expect(cancelled).toBeGreaterThan(3);
    expect(ends).toEqual(new Set(['cancelled', 'done']));
  }, 120_000);

  it('is the only one that goes on, unless it is named; one that serves is not cancelled', async () => {
    const { deploys } = world.useCases;
    await expect(deploys.cancel(ANN, 'shop', '')).rejects.toMatchObject({ code: 'deploy.not_found' });
    const { id = '' } = (await newest()) ?? {};
    await expect(deploys.cancel(ANN, 'shop', id)).rejects.toMatchObject({ code: 'deploy.over' });
    await expect(deploys.cancel(ANN, 'shop', 'nonsense')).rejects.toMatchObject({ code: 'deploy.not_found' });
    const build = world.faults.hold('builder.build');
    const first = causeOf(world.deploy('shop'));
    await build.reached;
    const second = causeOf(world.deploy('shop'));
    await expect.poll(async () => (await listed('shop'))?.waitsFor).not.toBe('');
    await expect(deploys.cancel(ANN, 'shop', '')).rejects.toMatchObject({ code: 'deploy.ambiguous' });
    const waiting = (await newest())?.id ?? '';
    expect(await deploys.cancel(ANN, 'shop', waiting)).toMatchObject({ state: 'cancelled' });
    expect(await second).toBe('cancelled');
    build.release();
    expect(await first).toBe('done');
  });
});

describe('a newer push of the same branch', () => {
  it('takes the place of one that waits, and both are informed', async () => {
    await start();
    const build = world.faults.hold('builder.build');
    const first = causeOf(push('shop', {}));
    await build.reached;
    const [old, young]: [string[], string[]] = [[], []];
    const second = causeOf(push('shop', {}, {}, old));
    await expect.poll(async () => (await listed('shop'))?.waitsFor).not.toBe('');
    const other = causeOf(push('shop', {}, { ref: 'refs/heads/master' }));
    const third = causeOf(push('shop', {}, {}, young));
    expect(await second).toBe('cancelled');
    build.release();
    expect(await Promise.all([first, other, third])).toEqual(['done', 'done', 'done']);
    expect(old.join('\n')).toContain(`A newer push by ${ANN.email} has taken its place.`);
    expect(young.join('\n')).toContain(`Takes the place of a push by ${ANN.email}`);
  });

  it('takes the place of one that builds where the setting says so', async () => {
    await start({ pushReplaces: 'building' });
    const build = world.faults.hold('builder.build');
    const first = causeOf(push('shop', {}));
    await build.reached;
    const second = causeOf(push('shop', {}));
    build.release();
    expect(await Promise.all([first, second])).toEqual(['cancelled', 'done']);
    expect(await serving()).toBe(2);
  });

  it('begins when the reference of the one before has moved, and is refused when it must not', async () => {
    await start();
    let move = (): void => {};
    const over = new Promise<void>((resolve) => (move = resolve));
    await push('shop', {}, { over });
    const lines: string[] = [];
    const begin = () => Promise.reject(new Error('moved'));
    const second = causeOf(push('shop', {}, { begin }, lines));
    const third = causeOf(push('shop', {}, { ref: 'refs/heads/master' }));
    await expect.poll(async () => (await newest())?.state).toBe('received');
    move();
    expect(await Promise.all([second, third])).toEqual(['internal', 'done']);
  });
});

it('shows the pusher what data the running units take with them', async () => {
  await start();
  const { provisioner } = world.parts;
  const lines: string[] = [];
  const written = provisioner.writtenData.bind(provisioner);
  provisioner.writtenData = () => Promise.resolve(['db.sqlite3']);
  await world.deploy('shop', {}, { say: (line) => lines.push(line) });
  provisioner.writtenData = written;
  expect(lines.join('\n')).toContain('have written db.sqlite3 beside their code');
});

it('no new code is taken when little is free, and everything else goes on', async () => {
  await start({ diskReserveBytes: 1_000 });
  const space = { freeBytes: 999, totalBytes: 2_000, freeFiles: 9, totalFiles: 9 };
  world.machine.probe.space = space;
  const lines: string[] = [];
  expect(await causeOf(world.deploy('shop', {}, { say: (line) => lines.push(line) }))).toBe('disk_low');
  expect(lines.join('\n')).toContain('tancho server disk');
  expect(lines.join('\n')).toContain('Most is held by code of shop (1 MiB).');
  world.machine.probe.space = { ...space, totalBytes: 2_000_000 };
  await causeOf(world.deploy('shop', {}, { say: (line) => lines.push(line) }));
  expect(lines.join('\n')).toContain('The platform and its apps hold 1 MiB of what is used, others the rest.');
  world.machine.probe.space = space;
  await world.setEnv('shop', { A: '1' });
  await expect(world.useCases.diskUse.report(ANN)).rejects.toMatchObject({ code: 'access.denied' });
  const report = await world.useCases.diskUse.report({ ...ANN, isAdmin: true });
  const code = { kind: 'code', app: 'shop', name: '', bytes: 4096 };
  expect(report).toEqual({ space, reserveBytes: 1_000, holders: [code] });
});

it('builds wait for a slot, their owners taking turns', async () => {
  await start({ buildSlots: 1 });
  await world.createApp('blog');
  await world.createApp('other');
  await world.machine.store.transact(async (tx) => {
    await tx.insertUser({ email: 'bob@example.com', passwordHash: '', isAdmin: false, createdAt: '' });
    await tx.addMember('crew', 'bob@example.com');
  });
  const BOB = { ...ANN, email: 'bob@example.com' };
  await world.useCases.apps.create(BOB, { name: 'bobs', platform: 'any' });
  const built: string[] = [];
  world.faults.on('builder.build', ([request]) => void built.push((request as { app: string }).app));
  const build = world.faults.hold('builder.build');
  const lines: string[] = [];
  const all = [world.deploy('shop')];
  await build.reached;
  for (const app of ['blog', 'other', 'bobs']) {
    all.push(world.deploy(app, {}, { say: (line) => lines.push(`${app}: ${line}`) }));
    await expect.poll(async () => (await listed(app))?.waitsFor ?? '').not.toBe('');
  }
  // Bob's came last and is next: Ann builds already.
  expect((await listed('bobs'))?.waitsFor).toBe('waiting for 1 build');
  expect((await listed('blog'))?.waitsFor).toBe('waiting for 2 builds');
  expect(lines).toContain('other: -----> waiting for 3 builds to end');
  build.release();
  await Promise.all(all);
  expect(built).toEqual(['shop', 'bobs', 'blog', 'other']);
  expect((await listed('blog'))?.waitsFor).toBe('');
});
