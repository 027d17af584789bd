/**
 * The counter of failed requests of an edge whose workers are killed, against a load generator that knows nothing of it: over many rollouts,
 * among clients that leave, slow ones, uploads and websockets, both have counted the same.
 */
import { readFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import {
  CountedUnit,
  countedRollout,
  type CountingEdge,
  Generator,
  type Incident,
  REQUESTS_PER_ROLLOUT,
} from '../../../../test/support/counted-rollouts.ts';
import { rounds } from '../../../../test/support/rounds.ts';
import { until } from '../../../../test/support/until.ts';
import type { Route } from '../../../domain/routes/router.ts';
import type { AdoptingRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';

const ROLLOUTS = rounds(50, 200);
/** An edge waits longer before each further worker that it starts: after so many rollouts another one begins. */
const ROLLOUTS_PER_EDGE = 50;
const WORKERS = 2;
const HALF_CLOSED_MS = 200;
const DRAIN_MS = 60_000;

let world: EdgeWorld;
let generator: Generator;
let unit: CountedUnit;
afterEach(async () => {
  generator.stop();
  await unit.kill();
  await world.dispose();
});

/** An edge with what it has counted, and the ways to its workers. */
class KillableEdge implements CountingEdge {
  readonly #router: AdoptingRouter;
  readonly #pid: number;
  #version = 0;

  private constructor(router: AdoptingRouter, pid: number) {
    this.#router = router;
    this.#pid = pid;
  }

  static async start(): Promise<KillableEdge> {
    const options = await world.home({ workers: WORKERS, timeouts: { halfClosedMs: HALF_CLOSED_MS } });
    return new KillableEdge(await world.start(options), await world.pid(options));
  }

  get port(): number {
    return Number(this.#router.listen.split(':').at(-1));
  }

  async route(target: CountedUnit['target']): Promise<void> {
    const route: Route = { app: 'blog', hosts: ['blog.test'], targets: [target], note: '', https: 'redirect' };
    await this.#router.apply({ version: ++this.#version, routes: [route] });
  }

  drained(id: string): Promise<number> {
    return this.#router.drained([id], DRAIN_MS);
  }

  async failures(): Promise<number> {
    return (await this.#router.traffic('blog')).failures;
  }

  async #workers(): Promise<number[]> {
    const children = await readFile(`/proc/${this.#pid}/task/${this.#pid}/children`, 'utf8');
    return children.trim().split(' ').filter(Boolean).map(Number);
  }

  /** Resolves when they are gone, and with them every connection that they had. */
  async killWorkers(most: number): Promise<void> {
    // An answer is out some microseconds before its end is noted: a worker that is asked has done both.
    await this.failures();
    await until(async () => (await this.#workers()).length > 0, { what: 'a worker' });
    const victims = (await this.#workers()).slice(0, most);
    for (const victim of victims) process.kill(victim, 'SIGKILL');
    const areGone = async (): Promise<boolean> => (await this.#workers()).every((pid) => !victims.includes(pid));
    await until(areGone, { what: 'the workers to be gone' });
  }
}

function incidentOf(n: number, edge: KillableEdge): Incident {
  if (n % 10 === 6) return { kind: 'workers', kill: () => edge.killWorkers(1) };
  if (n % ROLLOUTS_PER_EDGE === ROLLOUTS_PER_EDGE - 1)
    return { kind: 'workers', kill: () => edge.killWorkers(WORKERS) };
  return { kind: n % 4 === 3 ? 'cut' : 'none' };
}

const what = `over ${ROLLOUTS} rollouts, while its workers are killed`;
it(`counts what an independent load generator counts, ${what}`, { timeout: 900_000 }, async () => {
  world = new EdgeWorld();
  let ofWorkers = 0;
  for (let begun = 0; begun < ROLLOUTS; begun += ROLLOUTS_PER_EDGE) {
    const edge = await KillableEdge.start();
    generator = new Generator(edge.port);
    unit = await CountedUnit.start();
    await edge.route(unit.target);
    for (let n = 0; n < ROLLOUTS_PER_EDGE; n++) {
      const before = generator.failures;
      const incident = incidentOf(n, edge);
      unit = await countedRollout(edge, generator, unit, incident);
      // What a worker had under way is counted when its edge has heard of its end.
      await expect.poll(() => edge.failures(), { message: `${incident.kind} ${n}` }).toBe(generator.failures);
      const failed = generator.failures - before;
      if (incident.kind === 'workers') ofWorkers += failed;
      else expect(failed).toBe(incident.kind === 'cut' ? 2 : 0);
    }
    expect(generator.answers).toBe(ROLLOUTS_PER_EDGE * REQUESTS_PER_ROLLOUT - generator.failures);
    expect(await edge.failures()).toBe(generator.failures);
    generator.stop();
    await unit.kill();
  }
  // All three that were under way, each time that no worker was left.
  expect(ofWorkers).toBeGreaterThanOrEqual((3 * ROLLOUTS) / ROLLOUTS_PER_EDGE);
  console.log(`${ofWorkers} requests failed with their workers, all of them counted`);
});
