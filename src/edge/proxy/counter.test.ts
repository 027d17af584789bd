/**
 * The counter of failed requests against a load generator that knows nothing of the edge: after many rollouts, among clients that leave,
 * slow ones, uploads and websockets, both have counted the same. Over more of them, with
 * workers that die: backends/router/edge/counter-workers.long.test.ts.
 */
import { afterEach, expect, it } from 'vitest';
import { EdgeRig } from '../../../test/support/edge-rig.ts';
import {
  CountedUnit,
  countedRollout,
  type CountingEdge,
  Generator,
  REQUESTS_PER_ROLLOUT,
} from '../../../test/support/counted-rollouts.ts';
import { until } from '../../../test/support/until.ts';

const ROLLOUTS = 20;
const HALF_CLOSED_MS = 200;
const DRAIN_MS = 60_000;

let rig: EdgeRig;
let unit: CountedUnit;
let generator: Generator;
afterEach(async () => {
  generator.stop();
  await rig.stop();
  await unit.kill();
});

async function start(): Promise<CountingEdge> {
  rig = await EdgeRig.start({ timeouts: { halfClosedMs: HALF_CLOSED_MS } });
  generator = new Generator(rig.port);
  unit = await CountedUnit.start();
  await rig.route(unit.target);
  return {
    port: rig.port,
    route: (target) => rig.route(target),
    drained: (id) => rig.plane.drained([id], DRAIN_MS),
  };
}

it(`counts what an independent load generator counts, over ${ROLLOUTS} rollouts`, { timeout: 240_000 }, async () => {
  const edge = await start();
  let expected = 0;
  for (let n = 0; n < ROLLOUTS; n++) {
    const kind = n % 4 === 3 ? 'cut' : 'none';
    unit = await countedRollout(edge, generator, unit, { kind });
    // Half an answer, and a POST that nobody may repeat.
    expected += kind === 'cut' ? 2 : 0;
    expect(generator.failures).toBe(expected);
    expect((await rig.plane.traffic('blog')).failures).toBe(generator.failures);
  }
  expect(generator.answers).toBe(ROLLOUTS * REQUESTS_PER_ROLLOUT - expected);
});

it('counts what it cuts off itself when it ends', async () => {
  await start();
  const sending = [generator.send('GET', '/half'), generator.send('GET', '/slow')];
  await until(() => unit.pending.length === 2, { what: 'two answers to be under way' });
  await rig.plane.stop(0);
  await Promise.all(sending);
  expect(generator.failures).toBe(2);
  expect((await rig.plane.traffic('blog')).failures).toBe(2);
});
