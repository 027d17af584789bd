/** Deploys of one app by way of several controls on one PostgreSQL: they come one after the other, as they would by one. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { News } from '../../src/domain/controls/news.ts';
import type { Deploy, Push } from '../../src/domain/deploys/deploy.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { ANN, type DomainWorld, type Machine } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import type { Recipe } from '../support/memory-builds.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { type SeveralControls, severalControls } from '../support/several-controls.ts';
import { NO_POSTGRES, skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';

const TIMING = { ttlMs: 6_000, lookEveryMs: 50, suspectMs: 1_500 };

const available = await createTestDatabase();
afterAll(() => available?.dispose());

describe('deploys of one app by way of two controls', skipFor(available === null && NO_POSTGRES), () => {
  let controls: SeveralControls;
  let machine: Machine;
  let news: readonly News[];

  afterEach(() => controls.dispose());

  async function two(settings: Partial<Settings> = {}): Promise<readonly [DomainWorld, DomainWorld]> {
    controls = await severalControls(TIMING, settings);
    ({ machine, news } = controls);
    const both = [await controls.start('one'), await controls.start('two')] as const;
    await both[0].createApp('shop');
    return both;
  }

  /** As a push does it; `end` is how it has ended: `done`, or why not. */
  function push(world: DomainWorld, recipe: Recipe = {}, ref = 'refs/heads/main') {
    const commit = randomHex(40);
    machine.gitHost.commit('shop', commit, recipe);
    const nothing = async (): Promise<void> => {};
    const ways: Push = { ref, begin: nothing, hold: nothing, move: nothing, over: Promise.resolve() };
    const code = { source: machine.gitHost.source('shop', commit), commit, origin: 'git', push: ways } as const;
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const end = world.useCases.deploys.deploy(ANN, 'shop', code, say, new AbortController().signal).then(
      () => 'done',
      (error: { details?: { cause?: string } }) => error.details?.cause ?? error,
    );
    return { commit, lines, end };
  }

  const waiting = (count: number): Promise<void> =>
    until(async () => (await machine.store.deployTurns('shop')).length === count, { what: `${count} to have turns` });
  const newest = async (): Promise<Deploy> => {
    const [deploy] = await machine.store.deploys({ apps: ['shop'], limit: 1, skip: 0 });
    return deploy ?? expect.fail('no deploy');
  };
  const servingCommit = async (): Promise<string | undefined> => {
    const { release } = (await machine.store.app('shop')) ?? {};
    return (await machine.store.release('shop', release ?? 0))?.commit;
  };

  it('the later one waits for the one before, and is what serves in the end', async () => {
    const [one, other] = await two();
    const build = one.faults.hold('builder.build');
    const first = push(one);
    await build.reached;
    let hasBegun = false;
    other.faults.on('builder.build', () => void (hasBegun = true));
    const second = push(other, {}, 'refs/heads/master');
    await until(() => second.lines.some((line) => line.includes('waiting for it to end')), { what: 'it to wait' });
    expect(hasBegun).toBe(false);
    const [listed] = await one.useCases.deploys.list(ANN, { app: 'shop' });
    expect(listed?.waitsFor).toBe('waiting on another server');
    build.release();
    expect(await Promise.all([first.end, second.end])).toEqual(['done', 'done']);
    expect(await servingCommit()).toBe(second.commit);
    await expectSound(other);
  });

  it('of many by turns at both all come in the order of their records', async () => {
    const [one, other] = await two();
    const build = one.faults.hold('builder.build');
    const pushes = [push(one)];
    await build.reached;
    for (const [at, world] of [other, one, other, other, one].entries()) {
      pushes.push(push(world, {}, `refs/heads/${at}`));
      await waiting(at + 2);
    }
    build.release();
    expect(await Promise.all(pushes.map(({ end }) => end))).toEqual(pushes.map(() => 'done'));
    expect(await servingCommit()).toBe(pushes.at(-1)?.commit);
    expect((await machine.store.releases('shop', 10)).map(({ commit }) => commit).slice(0, 3)).toEqual(
      pushes
        .slice(-3)
        .map(({ commit }) => commit)
        .reverse(),
    );
  });

  it('a newer push takes the place of one that waits on the other, and both are informed', async () => {
    const [one, other] = await two();
    const build = one.faults.hold('builder.build');
    const first = push(one);
    await build.reached;
    const second = push(other);
    await waiting(2);
    const third = push(one);
    expect(await second.end).toBe('cancelled');
    build.release();
    expect(await Promise.all([first.end, third.end])).toEqual(['done', 'done']);
    expect(second.lines.join('\n')).toContain(`A newer push by ${ANN.email} has taken its place.`);
    expect(third.lines.join('\n')).toContain(`Takes the place of a push by ${ANN.email}`);
    expect(await servingCommit()).toBe(third.commit);
  });

  it('a newer push takes the place of one that builds on the other where the setting says so', async () => {
    const [one, other] = await two({ pushReplaces: 'building' });
    const build = one.faults.hold('builder.build');
    const first = push(one);
    await build.reached;
    const second = push(other);
    await waiting(2);
    build.release();
    expect(await Promise.all([first.end, second.end])).toEqual(['cancelled', 'done']);
    expect(await servingCommit()).toBe(second.commit);
  });

  it('one whose place was taken does not begin, also when nobody could reach it', async () => {
    const [one, other] = await two();
    let builds = 0;
    other.faults.on('builder.build', () => void (builds += 1));
    const slots = other.faults.hold('builder.build');
    const busy = ['busy-one', 'busy-two'].map(async (app) => {
      await other.createApp(app);
      await other.deploy(app);
    });
    await until(() => builds === machine.settings.buildSlots, { what: 'all slots to be taken' });
    const first = push(other);
    await until(() => first.lines.some((line) => line.includes('waiting for')), { what: 'it to wait for a slot' });
    await news[1]?.close();
    const second = push(one);
    expect(await Promise.race([second.end, waiting(2).then(() => 'waits')])).toBe('waits');
    slots.release();
    await Promise.all(busy);
    expect(await first.end).toBe('cancelled');
  });

  it('one that waits is cancelled by way of the other, and the next one comes', async () => {
    const [one, other] = await two();
    const build = one.faults.hold('builder.build');
    const first = push(one);
    await build.reached;
    const second = push(other);
    await waiting(2);
    const { id } = await newest();
    expect(await one.useCases.deploys.cancel(ANN, 'shop', id)).toMatchObject({ id, state: 'cancelled' });
    expect(await second.end).toBe('cancelled');
    const third = push(other);
    await waiting(2);
    build.release();
    expect(await Promise.all([first.end, third.end])).toEqual(['done', 'done']);
  });

  it('one that waits for a control that dies has its turn when another one has closed what that had begun', async () => {
    const [one, other] = await two();
    const build = one.faults.hold('builder.build');
    void push(one).end.catch(() => undefined);
    await build.reached;
    const second = push(other);
    await waiting(2);
    one.crash();
    expect(await second.end).toBe('done');
    expect(await servingCommit()).toBe(second.commit);
    await expectSound(other);
  });

  it('one that a live control has left behind is closed for who waits for it', async () => {
    const [one, other] = await two();
    const serving = await deployed(one);
    const left = { ...serving, id: '0'.repeat(24), state: 'building', artifact: '', finishedAt: null } as const;
    await machine.store.transact(async (tx) => {
      await tx.insertDeploy(left);
      await tx.claimDeploy(left.id, 'one');
      await tx.queueDeploy(left.id, '');
    });
    expect(await push(other).end).toBe('done');
    expect(await machine.store.deploy(left.id)).toMatchObject({ state: 'failed', cause: 'interrupted' });
  });

  it('those of an app that is removed end, on whichever control', async () => {
    const [one, other] = await two();
    const build = one.faults.hold('builder.build');
    const first = push(one);
    await build.reached;
    const removing = other.remove('shop');
    let isReported = false;
    news[0]?.on('cancel', () => void (isReported = true));
    await until(() => isReported, { what: 'the first one to be informed' });
    build.release();
    expect(await first.end).toBe('cancelled');
    await removing;
    expect(await machine.store.app('shop')).toBeNull();
  });

  async function deployed(world: DomainWorld): Promise<Deploy> {
    expect(await push(world).end).toBe('done');
    return newest();
  }
});
