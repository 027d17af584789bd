/** Several controls on one PostgreSQL and one engine: one dies, or stands still past its lease, and another goes on with its work. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { News } from '../../src/domain/controls/news.ts';
import type { Router } from '../../src/domain/routes/router.ts';
import { ANN, type DomainWorld, type Machine } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type SeveralControls, severalControls } from '../support/several-controls.ts';
import { NO_POSTGRES, skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';

const TIMING = { ttlMs: 1_500, lookEveryMs: 50, suspectMs: 1_500 };

const available = await createTestDatabase();
afterAll(() => available?.dispose());

describe('several controls', skipFor(available === null && NO_POSTGRES), () => {
  let controls: SeveralControls;
  let machine: Machine;
  let routers: readonly Router[];
  let news: readonly News[];

  beforeEach(async () => {
    controls = await severalControls(TIMING);
    ({ machine, routers, news } = controls);
  });
  afterEach(() => controls.dispose());

  const control = (owner: string): Promise<DomainWorld> => controls.start(owner);

  const workOf = async (owner: string) => {
    const { rollouts, deploys } = await machine.store.workOf(owner);
    return { rollouts: rollouts.size, deploys: deploys.size };
  };

  it('deploy apps side by side, and each looks after the units that it has started', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await two.createApp('blog');
    await Promise.all([one.deploy('shop'), two.deploy('blog')]);
    await Promise.all([one.settled(), two.settled()]);
    expect([await workOf('one'), await workOf('two')]).toEqual([
      { rollouts: 1, deploys: 0 },
      { rollouts: 1, deploys: 0 },
    ]);
    // The newest rollout of an app is that of whoever made it.
    await two.deploy('shop');
    await two.settled();
    expect([await workOf('one'), await workOf('two')]).toEqual([
      { rollouts: 0, deploys: 0 },
      { rollouts: 2, deploys: 0 },
    ]);
    await expectSound(two);
  });

  it('start a unit that dies again once, by the one that looks after it', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await one.deploy('shop');
    await one.settled();
    const [unit] = await machine.store.units('shop');
    if (unit === undefined) throw new Error('There is no unit.');
    let starts = 0;
    for (const world of [one, two]) world.faults.on('provisioner.ensure', () => void (starts += 1));
    await machine.units.kill(unit.id);
    await until(async () => (await machine.store.unit(unit.id))?.exits === 1, { what: 'the death to be noted' });
    await until(async () => (await machine.store.unit(unit.id))?.state === 'started', { what: 'the unit to serve' });
    expect([starts, two.parts.supervisor.isLookingAfter(unit.id)]).toEqual([1, false]);
  });

  it('go on with everything that a dead one had begun', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await one.deploy('shop');
    await one.settled();
    const building = one.faults.hold('builder.build');
    void one.deploy('shop').catch(() => undefined);
    await building.reached;
    const cut = (await machine.store.unfinishedDeploys())[0]?.id ?? '';
    one.crash();
    await until(async () => (await machine.store.deploy(cut))?.state === 'failed', { what: 'the deploy to be closed' });
    expect(await machine.store.deploy(cut)).toMatchObject({ cause: 'interrupted' });
    await until(async () => (await workOf('two')).rollouts === 1, { what: 'the units to be looked after' });
    const [unit] = await machine.store.units('shop');
    if (unit === undefined) throw new Error('There is no unit.');
    await machine.units.kill(unit.id);
    await until(async () => (await machine.store.unit(unit.id))?.exits === 1, { what: 'the death to be noted' });
    await until(async () => (await machine.store.unit(unit.id))?.state === 'started', { what: 'the unit to serve' });
    expect((await two.deploy('shop')).state).not.toBe('failed');
    await expectSound(two);
  });

  it('go on with what several had begun that die at once, though the work of one takes long', async () => {
    const survivor = await control('survivor');
    const dying = [await control('a'), await control('b'), await control('c')];
    const apps = ['app-a', 'app-b', 'app-c'];
    for (const [at, one] of dying.entries()) {
      await one.createApp(apps[at] ?? '');
      await one.deploy(apps[at] ?? '');
      await one.settled();
    }
    const starting = dying.map((one) => one.faults.hold('provisioner.ready'));
    for (const [at, one] of dying.entries()) void one.setEnv(apps[at] ?? '', { COLOR: 'red' }).catch(() => undefined);
    await Promise.all(starting.map(({ reached }) => reached));
    // The first one whose new unit it ends does not end.
    const stopping = Promise.withResolvers<void>();
    let stuck: string | null = null;
    survivor.faults.on('provisioner.stop', ([id]) => {
      stuck ??= String(id);
      return id === stuck ? stopping.promise : undefined;
    });
    for (const one of dying) one.crash();
    const open = async () => (await machine.store.unfinishedRollouts()).length;
    await until(async () => (await open()) <= 1, { what: 'the rollouts of the others to be undone' });
    // Nobody is waited for any more, and whatever they had is its own.
    await survivor.createApp('next');
    await survivor.deploy('next');
    await survivor.deploy('next');
    await until(async () => (await machine.store.units('next')).length === 1, { what: 'the old unit to be gone' });
    expect(await open()).toBe(1);
    expect((await workOf('survivor')).rollouts).toBe(4 + 1);
    stopping.resolve();
    await until(async () => (await open()) === 0, { what: 'the last rollout to be undone' });
    await survivor.controls?.close();
    for (const app of apps) await survivor.setEnv(app, { COLOR: 'blue' });
    await survivor.settled();
    await expectSound(survivor);
  });

  it('undo a rollout whose control died in it, and free its app', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await one.deploy('shop');
    await one.settled();
    const starting = one.faults.hold('provisioner.ready');
    void one.setEnv('shop', { COLOR: 'red' }).catch(() => undefined);
    await starting.reached;
    one.crash();
    await until(async () => (await machine.store.unfinishedRollouts()).length === 0, {
      what: 'the rollout to be undone',
    });
    await two.setEnv('shop', { COLOR: 'blue' });
    await expectSound(two);
    expect(await machine.store.env('shop')).toMatchObject([{ name: 'COLOR', value: 'blue' }]);
  });

  it('write nothing any more once another one has gone on in their place', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await one.deploy('shop');
    await one.settled();
    // As of a process that is stopped, but what goes on in it here is what goes on in it when it continues.
    const renewals = one.faults.hold('store.renewLease');
    const starting = one.faults.hold('provisioner.ready');
    const slow = one.setEnv('shop', { COLOR: 'red' });
    await starting.reached;
    await until(async () => (await workOf('two')).rollouts === 1, { what: 'the other one to go on' });
    await until(async () => (await machine.store.unfinishedRollouts()).length === 0, {
      what: 'the rollout to be undone',
    });
    renewals.release();
    starting.release();
    await expect(slow).rejects.toMatchObject({ code: expect.stringMatching(/unavailable|unit.failed/) as string });
    await expect(one.createApp('late')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await machine.store.app('late')).toBeNull();
    expect(await machine.store.env('shop')).toEqual([]);
    await expectSound(two);
  });

  it('leave alone what a live one is at work on', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    const building = one.faults.hold('builder.build');
    const deploy = one.deploy('shop');
    await building.reached;
    for (let look = 0; look < 5; look++) await two.controls?.look();
    const next = two.deploy('shop', { failure: 'build_failed' });
    next.catch(() => undefined);
    await until(async () => (await machine.store.deployTurns('shop')).length === 2, { what: 'the next one to wait' });
    building.release();
    expect((await deploy).state).not.toBe('failed');
    await expect(next).rejects.toThrow('build_failed');
    expect((await workOf('two')).deploys).toBe(0);
    await expectSound(one);
  });

  it('bring requests to what another one has just started', async () => {
    const [one, two] = [await control('one'), await control('two')];
    const reported = async (router: Router | undefined) =>
      (await router?.table())?.routes.flatMap(({ targets }) => targets.map(({ unit }) => unit));
    await one.createApp('shop');
    await one.deploy('shop');
    const [unit] = await machine.store.units('shop');
    await until(async () => (await reported(routers[1]))?.join() === unit?.id, {
      what: 'the other router to be informed',
    });
    await two.deploy('shop');
    await two.settled();
    const [next] = await machine.store.units('shop');
    expect(next?.id).not.toBe(unit?.id);
    await until(async () => (await reported(routers[0]))?.join() === next?.id, {
      what: 'the first router to be informed',
    });
  });

  it('show the log of what another one does while it happens', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    const stop = new AbortController();
    const seen: string[] = [];
    const following = await two.useCases.logs.follow(ANN, 'shop', { lines: 1 }, stop.signal);
    const over = (async () => {
      for await (const entries of following) seen.push(...entries.map(({ message }) => message));
    })();
    await one.parts.journal.note('shop', 'said on the first one');
    await until(() => seen.includes('said on the first one'), { what: 'the line to be seen on the second one' });
    stop.abort();
    await over;
  });

  it('end deploys of each other', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    const building = one.faults.hold('builder.build');
    const deploy = one.deploy('shop');
    await building.reached;
    let isReported = false;
    news[0]?.on('cancel', () => void (isReported = true));
    const cancelling = two.useCases.deploys.cancel(ANN, 'shop', '');
    await until(() => isReported, { what: 'the first one to be informed' });
    building.release();
    await expect(deploy).rejects.toMatchObject({ code: 'deploy.failed', details: { cause: 'cancelled' } });
    expect((await cancelling).state).toBe('cancelled');
    await expectSound(two);
  });

  it('end what serves no more only when the routers of all have let go of it', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await one.deploy('shop');
    await one.settled();
    const [old] = await machine.store.units('shop');
    if (old === undefined) throw new Error('There is no unit.');
    const taking = two.faults.hold('router.apply');
    await one.deploy('shop');
    await taking.reached;
    expect((await machine.store.unit(old.id))?.state).toBe('started');
    const draining = two.faults.hold('router.drained');
    taking.release();
    await draining.reached;
    expect((await machine.store.unit(old.id))?.state).toBe('started');
    draining.release();
    await until(async () => (await machine.store.unit(old.id)) === null, { what: 'the old unit to be gone' });
    await expectSound(one);
  });

  it('do not wait for the router of a dead one', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    two.crash();
    await one.deploy('shop');
    await one.deploy('shop');
    await until(async () => (await machine.store.units('shop')).length === 1, { what: 'the old unit to be gone' });
    await expectSound(one);
  });

  it('take over the units that stay when they change the number of those of another one', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await one.deploy('shop');
    await one.settled();
    const [first] = await machine.store.units('shop');
    if (first === undefined) throw new Error('There is no unit.');
    await two.useCases.scale.add(ANN, 'shop', { process: '', units: 1 }, () => {});
    await two.settled();
    expect([await workOf('one'), await workOf('two')]).toEqual([
      { rollouts: 0, deploys: 0 },
      { rollouts: 1, deploys: 0 },
    ]);
    let starts = 0;
    two.faults.on('provisioner.ensure', () => void (starts += 1));
    await machine.units.kill(first.id);
    await until(async () => (await machine.store.unit(first.id))?.exits === 1, { what: 'the death to be noted' });
    await until(async () => (await machine.store.unit(first.id))?.state === 'started', { what: 'the unit to serve' });
    expect(starts).toBe(1);
    await expectSound(two);
  });

  it('see that a unit which they take over has died while nobody learned of it', async () => {
    const [one, two] = [await control('one'), await control('two')];
    await one.createApp('shop');
    await one.deploy('shop');
    await one.settled();
    const [first] = await machine.store.units('shop');
    const entry = machine.units.entries.get(first?.id ?? '');
    if (first === undefined || entry === undefined) throw new Error('There is no unit.');
    entry.isSilent = true;
    await machine.units.kill(first.id);
    expect((await machine.store.unit(first.id))?.state).toBe('started');
    await two.useCases.scale.add(ANN, 'shop', { process: '', units: 1 }, () => {});
    await until(() => machine.units.entries.get(first.id)?.unit.exit === null, { what: 'the unit to run again' });
    await until(async () => (await machine.store.unit(first.id))?.state === 'started', { what: 'the unit to serve' });
    await two.settled();
    await expectSound(two);
  });
});
