/** On an engine that starts units again by itself, the platform takes them out of the routes and waits for them. */
import { Unreached } from '../../src/domain/errors.ts';
import { get } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MemoryMachine } from '../../src/backends/provisioner/memory/memory-provisioner.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { Unit } from '../../src/domain/units/unit.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { until } from '../support/until.ts';

const PLATFORM: Caller = { kind: 'platform' };

let world: DomainWorld;
/** Ids of what the platform has asked the engine to start or to end. */
let asked: string[] = [];
const watch = (): void => {
  for (const call of ['ensure', 'stop']) world.faults.on(`provisioner.${call}`, () => void asked.push(call));
};

beforeEach(async () => {
  world = await startDomain({}, new MemoryMachine('engine'));
  await world.useCases.pools.create(PLATFORM, { name: 'away', isPublic: true, engine: 'elsewhere' });
  await world.useCases.apps.create(ANN, { name: 'shop', platform: 'any', pool: 'away' });
  await world.deploy('shop');
  await world.settled();
  asked = [];
  watch();
});
afterEach(() => world.dispose());

async function unit(): Promise<Unit> {
  const [first] = await world.machine.store.units('shop');
  if (first === undefined) throw new Error('There is no unit.');
  return first;
}

/** Resolves when the unit has died so often and serves again. */
async function back(exits: number): Promise<Unit> {
  await until(
    async () => {
      const { state, exits: known } = await unit();
      return state === 'started' && known === exits;
    },
    { what: `the unit to be back after ${exits} deaths` },
  );
  await expectSound(world);
  return unit();
}

const answer = () =>
  new Promise<number | undefined>((resolve, reject) => {
    const [host = '', port = ''] = world.machine.router.listen.split(':');
    get({ host, port, headers: { host: 'shop.apps.test' }, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });

const logged = async () =>
  (await world.machine.logStore.query({ app: 'shop', lines: 100 })).map(({ message }) => message).join('\n');

it('a death is noted, and the next life routed where it is, without a second start or an end by the platform', async () => {
  const before = await unit();
  await world.machine.elsewhere.kill(before.id);
  const after = await back(1);
  expect([after.id, after.lastExit?.signal]).toEqual([before.id, 'SIGKILL']);
  expect(after.address).not.toEqual(before.address);
  expect(await answer()).toBe(200);
  expect(asked).toEqual(['ensure']);
  expect(world.machine.elsewhere.entries.size).toBe(1);
  expect(await logged()).toContain('the engine elsewhere starts it again');
});

it('one that dies again and again is waited for, and never ended by the platform', async () => {
  const { id } = await unit();
  for (let deaths = 1; deaths <= 3; deaths++) {
    await world.machine.elsewhere.kill(id);
    await back(deaths);
  }
  expect(asked).not.toContain('stop');
  expect(await answer()).toBe(200);
});

it('while its engine is not reached it is asked again and again, every second at the latest', async () => {
  const undo = world.faults.on('provisioner.ensure', () => {
    throw new Unreached('unavailable', 'The engine is away.');
  });
  await world.machine.elsewhere.kill((await unit()).id);
  const tries = async (): Promise<string[]> =>
    [...(await logged()).matchAll(/trying again in (\d+) ms/g)].map(([, ms = '']) => ms);
  await until(async () => (await tries()).length >= 2, { what: 'the third try to be awaited' });
  undo();
  expect((await tries()).slice(0, 2)).toEqual(['800', '1000']);
});

it('while it waits, the diagnosis says what its engine says', async () => {
  const { id } = await unit();
  const engine = world.machine.elsewhere;
  engine.isHolding = true;
  await engine.kill(id);
  const diagnosed = async () => (await world.useCases.diagnoses.ofApp(ANN, 'shop')).broken;
  await until(async () => (await unit()).state === 'starting', { what: 'the platform to wait for the unit' });
  expect(await diagnosed()).toMatchObject({
    link: 'exit',
    cause: expect.stringContaining(
      'Its engine says: it was ended by SIGKILL, and starts again after a pause (deaths: 1).',
    ) as string,
  });
  engine.isHolding = false;
  await back(1);
});

it('what died and came back while control was away is reported, and routed where it is', async () => {
  const { id } = await unit();
  world.crash();
  await world.machine.elsewhere.kill(id);
  const entry = world.machine.elsewhere.entries.get(id);
  await until(() => typeof entry?.unit.port === 'number', { what: 'the engine to have it back' });
  world = await world.next();
  await back(1);
  expect(await answer()).toBe(200);
  expect(await logged()).toContain('while the platform was away; it was started again meanwhile');
});

it('what its engine has started elsewhere while nobody looked after it, with no death to report, is routed where it is', async () => {
  const before = await unit();
  world.crash();
  const entry = world.machine.elsewhere.entries.get(before.id);
  if (entry === undefined) throw new Error('The engine does not have the unit.');
  entry.isSilent = true;
  await world.machine.elsewhere.kill(before.id);
  await until(() => typeof entry.unit.port === 'number', { what: 'the engine to have it elsewhere' });
  world = await world.next();
  await until(async () => (await unit()).state === 'started', { what: 'the unit to serve' });
  expect((await unit()).address?.port).toBe(entry.unit.port);
  expect(await answer()).toBe(200);
  await expectSound(world);
});

/** Of the newest rollout. */
async function fresh(): Promise<Unit[]> {
  const all = await world.machine.store.units('shop');
  const newest = Math.max(...all.map(({ release }) => release));
  return all.filter(({ release }) => release === newest);
}

it('a deploy goes on whose units lose what they run on while they start, and fails when they end by themselves', async () => {
  for (const end of ['lose', 'kill'] as const) {
    const held = world.faults.hold('provisioner.ready');
    const deploying = world.deploy('shop');
    await held.reached;
    const [first] = await fresh();
    await world.machine.elsewhere[end](first?.id ?? '');
    held.release();
    if (end === 'kill') await expect(deploying).rejects.toMatchObject({ details: { cause: 'exited' } });
    else await deploying;
    await world.settled();
    expect(await answer()).toBe(200);
  }
  await expectSound(world);
});

it('a deploy goes on when one of its units is lost that served already while another one starts', async () => {
  await world.useCases.scale.add(ANN, 'shop', { units: 1, process: 'web' }, () => {});
  const calls: string[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  world.faults.on('provisioner.ready', async ([id]) => {
    if (calls.push(String(id)) === 2) await released;
  });
  const said: string[] = [];
  const deploying = world.deploy('shop', {}, { say: (line) => void said.push(line) });
  await until(() => said.some((line) => line.includes(' is up')), { what: 'the first unit to serve' });
  const [first] = (await fresh()).filter(({ state }) => state === 'started');
  await world.machine.elsewhere.lose(first?.id ?? '');
  const states = async (): Promise<string[]> => (await fresh()).map(({ state }) => state);
  await until(async () => !(await states()).includes('started'), { what: 'the loss to be noted' });
  release();
  await deploying;
  await world.settled();
  expect(await states()).toEqual(['started', 'started']);
  await expectSound(world);
});

it('an app that is stopped or removed stays so', async () => {
  await world.useCases.startStop.stop(ANN, 'shop', '', () => {});
  await world.settled();
  await expectSound(world);
  await world.useCases.startStop.start(ANN, 'shop', '', () => {});
  await world.machine.elsewhere.kill((await unit()).id);
  await world.remove('shop');
  await expectSound(world);
  expect([...world.machine.elsewhere.entries.values()].filter(({ unit: one }) => one.exit === null)).toEqual([]);
});
