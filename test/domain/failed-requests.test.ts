/** Each request that the router had to fail is counted in the record of one deploy, also when rollouts overlap or control dies. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NO_ANSWERS } from '../../src/lib/answer-counts.ts';
import { type DomainWorld, startDomain } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

let world: DomainWorld;
let failures = 0;

beforeEach(async () => {
  failures = 40;
  world = await startDomain();
  world.machine.router.traffic = () => Promise.resolve({ requests: 1_000, failures, answers: NO_ANSWERS });
  await world.createApp('shop');
  await world.deploy('shop');
  await world.settled();
});
afterEach(() => world.dispose());

async function failedRequests(id: string): Promise<number | undefined> {
  await until(async () => (await world.machine.store.deploy(id))?.state === 'done', { what: 'the deploy to be done' });
  await world.settled();
  return (await world.machine.store.deploy(id))?.failedRequests;
}

it('none before a rollout, all in it, none after it', async () => {
  failures += 5;
  const undo = world.faults.on('router.drained', () => void (failures += 2));
  const { id } = await world.deploy('shop');
  undo();
  expect(await failedRequests(id)).toBe(2);
  failures += 7;
  expect(await failedRequests((await world.deploy('shop')).id)).toBe(0);
});

it('those of overlapping rollouts once', async () => {
  const draining = world.faults.hold('router.drained');
  const second = await world.deploy('shop');
  failures += 2;
  const starting = world.faults.hold('router.apply');
  const deploying = world.deploy('shop');
  await starting.reached;
  failures += 3;
  starting.release();
  const third = await deploying;
  failures += 4;
  draining.release();
  expect(await failedRequests(second.id)).toBe(2);
  expect(await failedRequests(third.id)).toBe(7);
});

it('those of a rollout that ends while the next one starts once', async () => {
  const draining = world.faults.hold('router.drained');
  const second = await world.deploy('shop');
  const starting = world.faults.hold('provisioner.ready');
  const deploying = world.deploy('shop');
  await starting.reached;
  failures += 2;
  draining.release();
  expect(await failedRequests(second.id)).toBe(2);
  failures += 3;
  starting.release();
  expect(await failedRequests((await deploying).id)).toBe(3);
});

it('those that failed while control was away', async () => {
  const draining = world.faults.hold('router.drained');
  const { id } = await world.deploy('shop');
  await draining.reached;
  failures += 3;
  world = await world.next();
  expect(await failedRequests(id)).toBe(3);
});

it('those since a router began anew, when it did', async () => {
  const undo = world.faults.on('router.drained', () => void (failures = 1));
  const { id } = await world.deploy('shop');
  undo();
  expect(await failedRequests(id)).toBe(1);
});

it('those of a rollout that begins while the router does not say how many from its commit on', async () => {
  let reads = 0;
  const undo = world.faults.on('router.traffic', () => {
    reads += 1;
    if (reads === 1) throw new Error('the router is away');
  });
  const draining = world.faults.hold('router.drained');
  const { id } = await world.deploy('shop');
  undo();
  failures += 3;
  draining.release();
  expect(await failedRequests(id)).toBe(3);
});
