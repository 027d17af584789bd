/** Units that serve and then answer no more: they are found, ended and started again, and healthy ones are left alone. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HealerRounds } from '../../src/domain/healers/rounds.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { until } from '../support/until.ts';
import type { Unit } from '../../src/domain/units/unit.ts';

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  await world.createApp('shop');
});
afterEach(() => world.dispose());

async function unit(process = 'web'): Promise<Unit> {
  const found = (await world.machine.store.units('shop')).find((one) => one.process === process);
  if (found === undefined) throw new Error(`there is no ${process}`);
  return found;
}

async function hang(): Promise<void> {
  const { address } = await unit();
  const asked = new AbortController();
  const asking = fetch(`http://${address?.host}:${address?.port}/hang`, { signal: asked.signal }).catch(() => null);
  const entry = world.machine.units.entries.get((await unit()).id);
  await until(() => entry?.unit.isHung === true, { what: 'the unit to hang', everyMs: 2 });
  asked.abort();
  await asking;
}

/** As many periods go by. */
async function rounds(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await world.parts.liveness.round();
    world.machine.pass(10_000);
  }
}

/** By whoever has the time to look: what is seen late does not count. */
async function untilFound(times = 1, process = 'web'): Promise<void> {
  const found = async (): Promise<boolean> => {
    await rounds(1);
    return (await unit(process)).exits >= times;
  };
  await until(found, { what: 'the unit to be found', everyMs: 1 });
}

async function notes(): Promise<string> {
  const entries = await world.machine.logStore.query({ app: 'shop', lines: 0, source: 'tancho' });
  return entries.map(({ message }) => message).join('\n');
}

async function untilBack(exits: number): Promise<void> {
  await until(async () => (await unit()).exits === exits && (await unit()).state === 'started', {
    what: 'the unit to serve again',
  });
}

it('a unit that hangs is found by connections that nobody accepts, and replaced; the reason is reported', async () => {
  await world.deploy('shop');
  const { id } = await unit();
  await rounds(2);
  await hang();
  await rounds(3);
  expect((await unit()).exits).toBe(0);
  const back = world.faults.hold('provisioner.ensure');
  await untilFound();
  await back.reached;
  expect(world.machine.table().routes[0]?.targets).toEqual([]);
  expect(await unit()).toMatchObject({
    id,
    state: 'starting',
    exits: 1,
    lastExit: { reason: expect.stringContaining('6 times in a row') as string, lastLines: ['listening'] },
  });
  expect((await world.useCases.apps.info(ANN, 'shop')).problems).toEqual([
    expect.stringMatching(/^web shop\/0 did not answer any more \(it accepted no connection/),
  ]);
  const events = await world.machine.store.events(10);
  expect(events.find(({ action }) => action === 'unit.replace')).toMatchObject({ target: 'app:shop', actor: 'tancho' });
  back.release();
  await untilBack(1);
  expect(await notes()).toContain('does not answer any more');
  await expectSound(world);
});

it('a unit that answers only errors on its health path is found and replaced', async () => {
  await world.deploy('shop', { healthCheck: { path: '/' } });
  const { id } = await unit();
  world.machine.units.entries.get(id)?.unit.breakDown();
  await untilFound();
  await untilBack(1);
  expect((await unit()).lastExit?.reason).toContain('3 times in a row');
  await expectSound(world);
});

it('what hangs again and again is started after growing delays', async () => {
  const settings = { web: { liveness: { failures: 1 } } };
  await world.deploy('shop', { settings });
  for (const times of [1, 2]) {
    await hang();
    await untilFound(times);
    await untilBack(times);
  }
  const delays = [...(await notes()).matchAll(/starting it again in (\d+) ms/g)].map(([, ms]) => Number(ms));
  expect(delays[1]).toBeGreaterThan(delays[0] ?? 0);
  await expectSound(world);
});

it('a process that does not listen is looked at by a command, where there is one', async () => {
  const settings = { worker: { liveness: { command: 'exit 1', failures: 2 } } };
  const { id } = await deployed({ web: 'serve', worker: 'stay' }, settings);
  await untilFound(1, 'worker');
  await until(async () => (await unit('worker')).exits === 1 && (await unit('worker')).state === 'started', {
    what: 'the worker to run again',
  });
  expect((await unit('worker')).id).toBe(id);
  expect((await unit('worker')).lastExit?.reason).toContain('"exit 1" exited with code 1');
  await expectSound(world);
});

it.each([
  ['it is switched off', { web: { liveness: 'off' as const } }],
  ['its failures are fewer than are needed', { web: { liveness: { failures: 100 } } }],
])('a unit that hangs goes on where %s', async (_, settings) => {
  await world.deploy('shop', { settings });
  await rounds(1);
  await hang();
  await rounds(8);
  expect(await unit()).toMatchObject({ exits: 0, state: 'started' });
});

it.each([
  ['has served for long is calm after one look', 600_000, 1],
  ['was just begun is looked at as often as a new one', 0, 3],
])('after a start of control a unit that %s', async (_, ageMs, expected) => {
  await world.deploy('shop');
  world.machine.pass(ageMs);
  world = await world.next();
  let looks = 0;
  world.faults.on('provisioner.probe', () => void (looks += 1));
  // The first round finds it.
  await rounds(4);
  expect(looks).toBe(expected);
  await expectSound(world);
});

it('failures that a paused or overloaded server has seen do not count', async () => {
  const settings = { web: { liveness: { failures: 1 } } };
  await world.deploy('shop', { settings });
  await rounds(1);
  await hang();
  const busy = world.faults.on('provisioner.probe', () => {
    const end = performance.now() + 600;
    while (performance.now() < end) continue;
  });
  await rounds(2);
  expect((await unit()).exits).toBe(0);
  busy();
  await untilFound();
});

it('the healer of units names one that does not answer, and replaces it at once', async () => {
  await world.deploy('shop');
  await rounds(1);
  await hang();
  await until(
    async () => {
      await rounds(1);
      return world.parts.liveness.problemOf((await unit()).id) !== null;
    },
    { what: 'a failure' },
  );
  const report = await world.useCases.healers.run(ADMIN, 'units');
  expect(report.found).toEqual([
    expect.objectContaining({ problem: expect.stringContaining('does not answer') as string, outcome: 'healed' }),
  ]);
  await untilBack(1);
  await expectSound(world);
});

it('rounds of the healers leave a unit alone that has not failed often enough', async () => {
  await world.deploy('shop', { settings: { web: { liveness: { failures: 100 } } } });
  await rounds(1);
  await hang();
  const { healers } = world.useCases;
  const { now } = world.machine;
  const healing = new HealerRounds({ healers, everyMs: 0, logger: SILENT, now });
  const failed = async (): Promise<boolean> => {
    await rounds(1);
    return world.parts.liveness.problemOf((await unit()).id) !== null;
  };
  for (let n = 0; n < 3; n++) {
    await until(failed, { what: 'a failure' });
    await healing.round();
  }
  expect(await unit()).toMatchObject({ exits: 0, state: 'started' });
});

const ADMIN = { ...ANN, isAdmin: true };

async function deployed(
  processes: Readonly<Record<string, string>>,
  settings: NonNullable<Parameters<DomainWorld['deploy']>[1]>['settings'],
): Promise<Unit> {
  await world.deploy('shop', { processes, ...(settings !== undefined && { settings }) });
  return unit('worker');
}
