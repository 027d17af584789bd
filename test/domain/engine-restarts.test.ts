/** On an engine that starts units again by itself, the platform takes them out of the routes and waits for them. */
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

it('what died and came back while control was away is told, and routed where it is', async () => {
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
