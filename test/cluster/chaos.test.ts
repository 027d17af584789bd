/**
 * Several whole servers on one PostgreSQL with their edges, apps of two units on a real cluster of two nodes, steady requests, changes and
 * pushes, while one thing after the other is killed (TANCHO_TEST_CHAOS=1). Once each, or for TANCHO_TEST_CHAOS_SECONDS (600 is the whole of it, with
 * TANCHO_TEST_RATE=500 and TANCHO_TEST_SERVERS=3).
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { describeLost, isExcused } from './chaos-verdict.ts';
import { ChaosWorld } from './chaos-world.ts';
import type { Kill, KillKind } from './kills.ts';

const SECONDS = Number(process.env['TANCHO_TEST_CHAOS_SECONDS'] ?? 0);
const PER_SECOND = Number(process.env['TANCHO_TEST_RATE'] ?? 100);
const SERVERS = Number(process.env['TANCHO_TEST_SERVERS'] ?? 2);
const EVERY_MS = 20_000;
const WELL_MS = 180_000;
const ONCE: readonly KillKind[] = [
  'control',
  'control and pod',
  'server',
  'edge',
  'pod',
  'processes of a unit',
  'lost node',
  'etcd',
  'API server',
  'PostgreSQL',
  'registry',
  'all controls and a pod',
];
/** As in TANCHO_TEST_CHAOS_KINDS=node,etcd. */
const CHOSEN = (process.env['TANCHO_TEST_CHAOS_KINDS'] ?? ONCE.join(',')).split(',') as KillKind[];

/** A node that is lost for good takes Kubernetes most of a minute: once is enough. */
const LATER = CHOSEN.map((kind): KillKind => (kind === 'lost node' ? 'node' : kind));

let world: ChaosWorld | null = null;

beforeAll(async () => {
  world = await ChaosWorld.start(SERVERS);
}, 600_000);

afterAll(async () => {
  await world?.dispose();
});

it('whatever is killed fails no request but those in it, loses nothing that was acknowledged, and comes back by itself', async () => {
  if (world === null) return expect.fail('there is no PostgreSQL');
  const { load, changes, pushes } = world.beginWork(PER_SECOND);
  const kills: Kill[] = [];
  const begun = performance.now();
  try {
    for (let number = 0; number < CHOSEN.length || performance.now() - begun < SECONDS * 1_000; number++) {
      const next = performance.now() + EVERY_MS;
      const kind = number < CHOSEN.length ? CHOSEN[number] : LATER[Math.floor(Math.random() * LATER.length)];
      const kill = await world.kill(kind ?? 'pod');
      kills.push(kill);
      await world.allWell(WELL_MS);
      const wellMs = Math.round(performance.now() - kill.begun);
      console.log(`${kind} (${kill.what}): all well after ${wellMs} ms; ${load.lost.length} requests lost so far`);
      while (SECONDS > 0 && performance.now() < next) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // Whatever was cut off, work goes on by itself.
    const isDone = (): boolean => changes.acknowledged.size > 0 && pushes.acknowledged.length > 0;
    await until(isDone, { what: 'a change and a push to be acknowledged', timeoutMs: WELL_MS });
  } finally {
    await Promise.all([changes.stop(), pushes.stop()]);
    await load.stop();
    console.log([...describeLost(load.lost, kills), ...world.begunAnew, ...world.ended].join('\n'));
  }
  const excused = load.lost.filter((request) => kills.some((kill) => isExcused(request, kill)));
  console.log(
    `${kills.length} kills: ${load.requests} requests, the latest ${load.latestMs} ms late, ${load.lost.length} lost, ${excused.length} of them in what was killed; ` +
      `${changes.acknowledged.size} of ${changes.tried} changes and ${pushes.acknowledged.length} of ${pushes.tried} pushes acknowledged`,
  );
  // The rest is looked at all the same.
  expect.soft(load.lost.filter((request) => !excused.includes(request))).toEqual([]);
  const checked = world;
  await until(async () => (await checked.leftovers()).length === 0, {
    what: 'nothing to be left over',
    timeoutMs: WELL_MS,
    everyMs: 1_000,
    detail: () => checked.lastLeftovers.join('\n'),
  });
  await world.atRest(WELL_MS);
  expect(await changes.lost()).toEqual([]);
  expect(await pushes.lost()).toEqual([]);
  expect(await world.doubleRollouts()).toEqual([]);
}, 3_600_000);
