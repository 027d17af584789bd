import http from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANN, type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { expectSound } from '../../../test/support/invariants.ts';
import { until } from '../../../test/support/until.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

async function ask(path: string): Promise<number> {
  const [host = '', port = ''] = world.machine.router.listen.split(':');
  const options = { host, port: Number(port), path, headers: { host: 'shop.apps.test' }, agent: false };
  return new Promise((resolve, reject) => {
    http
      .get(options, (response) => response.resume().once('end', () => resolve(response.statusCode ?? 0)))
      .once('error', reject);
  });
}

async function deployState(id: string): Promise<string | undefined> {
  return (await world.machine.store.deploy(id))?.state;
}

describe('draining', () => {
  it('goes on in the background and does not hold up the next rollout, which ends what is left', async () => {
    await world.deploy('shop');
    const draining = world.faults.hold('router.drained');
    const second = await world.deploy('shop');
    expect(second.state).toBe('draining');
    const third = await world.deploy('shop');
    expect(third.state).toBe('draining');
    expect(await world.machine.store.units('shop')).toHaveLength(3);
    expect(await ask('/')).toBe(200);
    draining.release();
    await expectSound(world);
    expect(await deployState(second.id)).toBe('done');
    expect(await deployState(third.id)).toBe('done');
  });

  it('of an earlier rollout that stays stuck leaves nothing: the next one retires its units too', async () => {
    await world.deploy('shop');
    const undo = world.faults.on('router.drained', () => Promise.reject(new Error('the router is away')));
    await world.deploy('shop');
    undo();
    await world.deploy('shop');
    await until(async () => (await world.machine.store.units('shop')).length === 1, {
      what: 'one unit to be left, before the stuck one is tried again',
    });
    await expectSound(world);
  });

  it('counts the requests that the router had to fail meanwhile', async () => {
    await world.deploy('shop');
    const draining = world.faults.hold('router.drained');
    const deploying = world.deploy('shop');
    await draining.reached;
    expect(await ask('/crash')).toBe(502);
    draining.release();
    const { id } = await deploying;
    await world.settled();
    expect(await world.machine.store.deploy(id)).toMatchObject({ state: 'done', failedRequests: 1 });
    const next = await world.deploy('shop');
    await world.settled();
    expect(await world.machine.store.deploy(next.id)).toMatchObject({ state: 'done', failedRequests: 0 });
  });

  it('is not counted as time of the deploy', async () => {
    await world.deploy('shop');
    const draining = world.faults.hold('router.drained');
    const { id } = await world.deploy('shop');
    world.machine.pass(25_000);
    draining.release();
    await world.settled();
    const deploy = await world.machine.store.deploy(id);
    expect(deploy).toMatchObject({ state: 'done', durationMs: expect.any(Number) });
    expect(deploy?.durationMs).toBeLessThan(20_000);
    expect(deploy?.phases.draining).toBeGreaterThan(20_000);
  });
});

describe('what is committed', () => {
  it('does not fail when the router is away: the old units serve until it is back', async () => {
    await world.deploy('shop');
    const undo = world.faults.on('router.apply', () => Promise.reject(new Error('the router is away')));
    const said: string[] = [];
    const deploy = await world.deploy('shop', {}, { say: (line) => said.push(line) });
    expect(deploy).toMatchObject({ state: 'routing', release: 2 });
    expect(said.join('\n')).toContain('The router does not take the new routes; it serves by those of before.');
    expect(await ask('/')).toBe(200);
    expect(await world.machine.store.units('shop')).toHaveLength(2);
    undo();
    await expectSound(world);
    expect(await deployState(deploy.id)).toBe('done');
  });

  it('is carried to its end when the store was away meanwhile', async () => {
    await world.deploy('shop');
    const undo = world.faults.on('router.drained', () => {
      undo();
      world.faults.on('store.transact', failOnce());
    });
    const { id } = await world.deploy('shop');
    await expectSound(world);
    expect(await deployState(id)).toBe('done');
  });
});

function failOnce(): () => void {
  let isFirst = true;
  return () => {
    if (!isFirst) return;
    isFirst = false;
    throw new Error('the store is away');
  };
}

describe('what is not committed', () => {
  it('fails by its own cause even when it can not be undone, and the next deploy takes it up', async () => {
    await world.deploy('shop');
    const undo = world.faults.on('provisioner.remove', () => Promise.reject(new Error('the disk is away')));
    const bad = world.deploy('shop', { processes: { web: 'print oh; exit 3' } });
    await expect(bad).rejects.toMatchObject({ code: 'deploy.failed', details: { cause: 'exited', lastLines: ['oh'] } });
    undo();
    expect((await world.machine.store.unfinishedRollouts()).map((rollout) => rollout.state)).toEqual(['starting']);
    expect(await world.deploy('shop')).toMatchObject({ release: 2 });
    await expectSound(world);
  });

  it('fails with a unit that dies when all of them are up and nothing is committed yet', async () => {
    await world.deploy('shop');
    const { store } = world.machine;
    // The failures of the router are read before the first step, and then for the commit.
    let reads = 0;
    world.faults.on('router.traffic', async () => {
      reads += 1;
      const fresh = (await store.units('shop')).find((unit) => unit.release === 2);
      if (reads < 2 || fresh?.state !== 'started') return;
      await world.machine.units.kill(fresh.id);
      await until(async () => (await store.unit(fresh.id))?.state === 'error', { what: 'its death to be noted' });
    });
    await expect(world.deploy('shop')).rejects.toMatchObject({ details: { cause: 'exited' } });
    expect((await world.useCases.apps.info(ANN, 'shop')).app.release).toBe(1);
    expect(await ask('/')).toBe(200);
  });

  it('gives way to what somebody else has made of the app meanwhile, by whatever way', async () => {
    await world.deploy('shop');
    const { store } = world.machine;
    const starting = world.faults.hold('provisioner.ready');
    const slow = world.setEnv('shop', { COLOR: 'red' });
    await starting.reached;
    await store.transact((tx) => tx.updateApp('shop', { desired: 'stopped' }));
    starting.release();
    await expect(slow).rejects.toMatchObject({ code: 'app.busy' });
    expect(await store.app('shop')).toMatchObject({ desired: 'stopped', release: 1 });
    expect(await store.env('shop')).toEqual([]);
  });

  it('is cancelled when the pusher leaves', async () => {
    await world.deploy('shop');
    const leaving = new AbortController();
    const undo = world.faults.on('provisioner.ready', () => leaving.abort());
    const deploying = world.deploy('shop', { processes: { web: 'stay' } }, { signal: leaving.signal });
    await expect(deploying).rejects.toMatchObject({ details: { cause: 'cancelled' } });
    undo();
    expect((await world.useCases.apps.info(ANN, 'shop')).app.release).toBe(1);
    await expectSound(world);
  });
});

describe('a control that lost the lease of the app to another one', () => {
  /** As when it has expired and somebody else was the first to take it. */
  async function loseLease(): Promise<void> {
    const { store } = world.machine;
    const token = await store.lease('app:shop', 'control', 60_000);
    if (token !== null) await store.releaseLease({ key: 'app:shop', token });
  }

  it('does not undo what the other one did since, whatever it was about to do', async () => {
    await world.deploy('shop');
    const other = await world.machine.start({ owner: 'other' });
    const starting = world.faults.hold('provisioner.ready');
    const slow = world.deploy('shop');
    await starting.reached;
    await loseLease();
    await other.setEnv('shop', { COLOR: 'blue' });
    starting.release();
    // Its new units were ended by the other one.
    await expect(slow).rejects.toMatchObject({ code: 'deploy.failed', details: { cause: 'exited' } });
    expect(await world.machine.store.env('shop')).toMatchObject([{ name: 'COLOR', value: 'blue' }]);
    await expectSound(other);
  });

  it('is undone in the middle of its rollout, and does not take the number of its release from the other one', async () => {
    await world.deploy('shop');
    const other = await world.machine.start({ owner: 'other' });
    const starting = world.faults.hold('provisioner.ready');
    const slow = world.setEnv('shop', { COLOR: 'red' });
    await starting.reached;
    await loseLease();
    const deploy = await other.deploy('shop');
    expect(deploy.release).toBe(2);
    starting.release();
    await expect(slow).rejects.toMatchObject({ code: expect.stringMatching(/app.busy|unit.failed/) as string });
    await expectSound(other);
    expect((await world.machine.store.app('shop'))?.release).toBe(2);
    expect(await world.machine.store.env('shop')).toEqual([]);
  });

  it('does not bring back a deploy that the other one has closed', async () => {
    await world.deploy('shop');
    const other = await world.machine.start({ owner: 'other' });
    const building = world.faults.hold('builder.build');
    const slow = world.deploy('shop');
    await building.reached;
    await loseLease();
    await expect(other.deploy('shop', { failure: 'build_failed' })).rejects.toThrow('build_failed');
    building.release();
    await expect(slow).rejects.toMatchObject({ code: 'deploy.failed', details: { cause: 'interrupted' } });
    await expectSound(other);
    expect((await world.machine.store.app('shop'))?.release).toBe(1);
  });
});

describe('what is said', () => {
  const deploySaying = async (processes: Record<string, string>): Promise<string[]> => {
    const said: string[] = [];
    await world.deploy('shop', { processes }, { say: (line) => said.push(line) });
    return said;
  };

  it('while a unit takes its time, is for which one everything waits', async () => {
    const held = world.faults.hold('provisioner.ready');
    const said: string[] = [];
    const deploying = world.deploy('shop', { processes: { web: 'serve' } }, { say: (line) => said.push(line) });
    await until(() => said.includes('       waiting for web shop/0 to be ready'), { what: 'a word' });
    held.release();
    await deploying;
  });

  it('of a release without a process for requests does not promise that it answers', async () => {
    expect((await deploySaying({ worker: 'stay' })).at(-1)).toBe(
      '-----> Release 1 runs; without a process "web" nothing answers at http://shop.apps.test',
    );
    expect((await deploySaying({ web: 'serve' })).at(-1)).toBe('-----> Release 2 answers at http://shop.apps.test');
  });
});

describe('an engine that keeps equal units together', () => {
  const reported = (): (string | undefined)[] =>
    [...world.machine.units.entries.values()].map(({ spec }) => spec.rollout);
  const say = (): void => {};

  it('has units that are added as of those that are there, and of those of a new version as of others', async () => {
    await world.deploy('shop');
    const [first] = reported();
    await world.useCases.scale.add(ANN, 'shop', { units: 2, process: '' }, say);
    await world.settled();
    expect(reported()).toEqual([first, first, first]);
    await world.deploy('shop');
    await world.settled();
    expect(new Set(reported()).size).toBe(1);
    expect(reported()).toHaveLength(3);
    expect(reported()[0]).not.toBe(first);
  });
});
