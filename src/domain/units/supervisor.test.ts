import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DomainWorld, startDomain } from '../../../test/support/domain-world.ts';
import { expectSound } from '../../../test/support/invariants.ts';
import { until } from '../../../test/support/until.ts';
import { Failure } from '../failure.ts';
import type { Unit } from './unit.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

async function onlyUnit(): Promise<Unit> {
  const [unit] = await world.machine.store.units('shop');
  if (unit === undefined) throw new Error('there is no unit');
  return unit;
}

/** What the platform itself has said, e.g. `in 200 ms` of `starting it again in 200 ms`. */
async function noted(pattern: RegExp): Promise<string[]> {
  const entries = await world.machine.logStore.query({ app: 'shop', lines: 0, source: 'tancho' });
  return entries.flatMap(({ message }) => pattern.exec(message)?.[0] ?? []);
}

async function untilNoted(pattern: RegExp, times: number): Promise<void> {
  const what = `${times} times ${String(pattern)}`;
  await until(async () => (await noted(pattern)).length >= times, { timeoutMs: 60_000, everyMs: 5, what });
}

async function startsOf(unit: Unit): Promise<number> {
  const printed = await world.machine.logStore.query({ app: 'shop', lines: 0, unit: unit.id });
  return printed.filter(({ message }) => message === 'listening').length;
}

async function die(unit: Unit): Promise<void> {
  await world.machine.units.kill(unit.id);
}

describe('a unit that dies', () => {
  it('leaves the routes, keeps its last words and comes back', async () => {
    await world.setEnv('shop', { KEY: 'very-private' });
    await world.deploy('shop', { processes: { web: 'print opened $KEY; print and ready; serve' } });
    const unit = await onlyUnit();
    const back = world.faults.hold('provisioner.ensure');
    await die(unit);
    await untilNoted(/starting it again/, 1);
    expect(world.machine.table().routes[0]).toMatchObject({
      targets: [],
      note: expect.stringContaining('shop') as string,
    });
    expect(await onlyUnit()).toMatchObject({
      state: 'error',
      exits: 1,
      address: null,
      lastExit: { code: null, signal: 'SIGKILL', lastLines: ['opened ***', 'and ready', 'listening'] },
    });
    back.release();
    await untilNoted(/is running again/, 1);
    await expectSound(world);
  });

  it('is started after growing delays, and forgiven when it has lived for a while', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    for (const times of [1, 2]) {
      await die(unit);
      await untilNoted(/is running again/, times);
    }
    expect(await noted(/in \d+ ms/)).toEqual(['in 200 ms', 'in 800 ms']);
    world.machine.pass(61_000);
    await die(unit);
    await untilNoted(/starting it again/, 3);
    expect((await noted(/in \d+ ms/)).at(-1)).toBe('in 200 ms');
    await expectSound(world);
    expect(await onlyUnit()).toMatchObject({ exits: 3 });
    expect(await startsOf(unit)).toBe(4);
  });

  it('waits long when it comes to its bound for the second time in a row', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    await world.parts.supervisor.replaceOutgrown(unit, 'it has written too much', 0);
    await untilNoted(/is running again/, 1);
    await world.parts.supervisor.replaceOutgrown(unit, 'it has written too much', 0);
    expect(await noted(/in \d+ ms/)).toEqual(['in 200 ms', 'in 10000 ms']);
  });

  it('is not forgiven for a start that took long and failed', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    let attempts = 0;
    world.faults.on('provisioner.ready', () => {
      if (++attempts > 2) return;
      world.machine.pass(61_000);
      throw new Failure('no_listener', 'The process runs but listens on no port.');
    });
    await die(unit);
    await untilNoted(/trying again/, 1);
    expect(await noted(/in \d+ ms/)).toEqual(['in 200 ms', 'in 800 ms']);
    // The stop of what did not come up is no further death.
    await until(async () => (await onlyUnit()).lastExit?.signal === 'SIGTERM', { what: 'the stop' });
    expect(await onlyUnit()).toMatchObject({ state: 'error', exits: 2 });
    // The keeper goes on with it when this control ends now.
    expect(world.machine.units.entries.get(unit.id)?.isStopped).toBe(false);
    await untilNoted(/trying again/, 2);
    expect((await noted(/in \d+ ms/)).at(-1)).toBe('in 3200 ms');
  });

  it('comes back when the store was away at that moment', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    let isAway = true;
    world.faults.on('store.transact', () => {
      if (isAway) throw new Error('the store is away');
    });
    await die(unit);
    await until(() => world.complaints.length > 0, { what: 'a complaint' });
    isAway = false;
    await untilNoted(/is running again/, 1);
    await expectSound(world);
  });

  it('keeps running when only the router is away', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    const undo = world.faults.on('router.apply', () => {
      throw new Error('the router is away');
    });
    await die(unit);
    await until(async () => (await onlyUnit()).state === 'started' && (await onlyUnit()).exits === 1, {
      what: 'the unit to run again',
    });
    undo();
    await world.parts.routes.publish();
    await expectSound(world);
    expect(await startsOf(unit)).toBe(2);
  });
});

describe('nothing is started twice', () => {
  it('when the exit of a unit is reported while the platform starts', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    world.crash();
    await die(unit);
    world = await world.next();
    expect(world.recovered.revived).toBe(1);
    await expectSound(world);
    expect(await startsOf(unit)).toBe(2);
    expect(await noted(/is running again/)).toHaveLength(1);
  });

  it('when two ask for it at the same time', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    await die(unit);
    await untilNoted(/starting it again/, 1);
    await Promise.all([world.parts.supervisor.revive(unit), world.parts.supervisor.revive(unit)]);
    await expectSound(world);
    expect(await startsOf(unit)).toBe(2);
    expect(await noted(/is running again/)).toHaveLength(1);
  });

  it('when it serves already', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    const effects: string[] = [];
    for (const name of ['provisioner.ensure', 'provisioner.ready'])
      world.faults.on(name, () => void effects.push(name));
    expect(await (await starter(unit))()).toEqual(unit);
    expect(effects).toEqual([]);
  });

  it('when it is being retired, not even by those who were waiting to start it', async () => {
    await world.deploy('shop');
    const unit = await onlyUnit();
    let starts = 0;
    world.faults.on('provisioner.ensure', () => void starts++);
    const coming = world.faults.hold('provisioner.ready');
    await die(unit);
    await coming.reached;
    const start = await starter(unit);
    const waiting = start();
    const retired = world.parts.units.retire(unit);
    const late = start();
    coming.release();
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    await expect(late).rejects.toMatchObject({ code: 'cancelled' });
    await retired;
    expect(starts).toBe(1);
    expect(await world.parts.provisioner.list()).toEqual([]);
  });
});

async function starter(unit: Unit): Promise<() => Promise<Unit>> {
  const release = await world.machine.store.release('shop', unit.release);
  if (release === null) throw new Error('there is no release');
  return () => world.parts.units.start(unit, release, new AbortController().signal);
}
