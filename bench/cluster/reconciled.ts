/** How soon a change is carried out, of the platform's and of the cluster's making. */
import { setTimeout as pause } from 'node:timers/promises';
import { LABELS } from '../../src/backends/provisioner/kubernetes/labels.ts';
import { bookOf } from '../../src/backends/provisioner/kubernetes/unit-book.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Deployment, Pod } from '../../src/kubernetes/objects.ts';
import type { World } from '../../test/support/world.ts';
import type { Bench } from '../bench.ts';
import { NAMESPACE } from './deployed-apps.ts';
import type { SeenCluster } from './seen-cluster.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

const ROUNDS = 20;
const RESTARTS = 5;
const MOST_MS = 1_000;
const LOOK_MS = 4;
const PATIENCE_MS = 60_000;

export interface Changing {
  readonly bench: Bench;
  readonly world: World;
  readonly cluster: SimulatedCluster;
  readonly seen: SeenCluster;
  readonly token: string;
}

export async function publishChanges(changing: Changing): Promise<void> {
  const { bench } = changing;
  const [written, served, lost, replaced]: number[][] = [[], [], [], []];
  for (let index = 0; index < ROUNDS; index++) {
    const added = await addUnit(changing, `listed-${index}`);
    written?.push(added.writtenMs);
    served?.push(added.servedMs);
  }
  for (let index = ROUNDS; index < 2 * ROUNDS; index++) {
    const ended = await losePod(changing, `listed-${index}`);
    lost?.push(ended.lostMs);
    replaced?.push(ended.replacedMs);
  }
  const restarts: number[] = [];
  for (let index = 2 * ROUNDS; index < 2 * ROUNDS + RESTARTS; index++) {
    const begun = performance.now();
    const restarted = await changing.world.api('POST', `/apps/listed-${index}/restart`, { token: changing.token });
    if (restarted.status !== 200) throw new Error(`restarting an app: ${restarted.text}`);
    restarts.push(performance.now() - begun);
  }
  const publish = (what: string, samples: readonly number[] = [], most?: number): void =>
    bench.publish({ what, unit: 'ms', samples, ...(most !== undefined && { most }) });
  publish('an app of five units or six is restarted', restarts);
  publish('one unit more: until the cluster knows', written);
  publish('one unit more: until it serves, with what Kubernetes takes', served, MOST_MS);
  publish('a pod is deleted: until its unit has left the routes', lost, MOST_MS);
  publish('a pod is deleted: from its successor being ready until that serves', replaced, MOST_MS);
}

async function addUnit(
  { world, seen, token }: Changing,
  app: string,
): Promise<{ writtenMs: number; servedMs: number }> {
  const before = replicasOf(seen, app);
  const begun = performance.now();
  const adding = world.api('PUT', `/apps/${app}/units?units=1`, { token });
  await observed(`a pod more for ${app}`, () => replicasOf(seen, app) > before);
  const writtenMs = performance.now() - begun;
  const added = await adding;
  if (added.status !== 200 || added.text.includes('"Error"')) throw new Error(`adding a unit: ${added.text}`);
  return { writtenMs, servedMs: performance.now() - begun };
}

async function losePod(
  { cluster, seen, world, token }: Changing,
  app: string,
): Promise<{ lostMs: number; replacedMs: number }> {
  const [victim] = podsOf(seen, app);
  const address = victim?.status?.podIP ?? '';
  if (victim === undefined) throw new Error(`${app} has no pod`);
  const others = new Set(podsOf(seen, app).map(({ metadata }) => metadata.name));
  await cluster.client.delete(KINDS.pods, { name: victim.metadata.name, namespace: NAMESPACE }, { graceSeconds: 1 });
  const begun = performance.now();
  // Its successor may be given the same address.
  const isLeft = async (): Promise<boolean> =>
    isReplaced(seen, app, victim.metadata.name) || !(await addressesOf(world, token, app)).includes(address);
  await observed(`${app} without ${address}`, isLeft);
  const lostMs = performance.now() - begun;
  let successor = '';
  await observed(`a successor for ${app}`, () => {
    const found = podsOf(seen, app).find(({ metadata }) => !others.has(metadata.name));
    successor = found?.status?.podIP ?? '';
    return successor !== '';
  });
  const ready = performance.now();
  await observed(`${app} with ${successor}`, async () => (await addressesOf(world, token, app)).includes(successor));
  return { lostMs, replacedMs: performance.now() - ready };
}

function replicasOf(seen: SeenCluster, app: string): number {
  const own = [...seen.deployments.objects.values()].filter((one) => appOf(one) === app);
  return own.reduce((sum, { spec }) => sum + spec.replicas, 0);
}

/** No unit has that pod any more, and each has one that runs. */
function isReplaced(seen: SeenCluster, app: string, pod: string): boolean {
  const books = [...seen.deployments.objects.values()].filter((one) => appOf(one) === app).map(bookOf);
  const own = books.flatMap((book) => [...book.values()]).filter(({ end }) => end === null);
  const running = new Set(podsOf(seen, app).map(({ metadata }) => metadata.name));
  return own.every((unit) => unit.pod !== pod && running.has(unit.pod));
}

function podsOf(seen: SeenCluster, app: string): Pod[] {
  return seen.running().filter((pod) => appOf(pod) === app);
}

function appOf({ metadata }: Deployment | Pod): string {
  return metadata.labels?.[LABELS.app] ?? '';
}

async function addressesOf(world: World, token: string, app: string): Promise<string[]> {
  const { Units } = (await world.api('GET', `/apps/${app}`, { token })).json<{ Units: { Ip: string }[] }>();
  return Units.map(({ Ip }) => Ip);
}

async function observed(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error(`waited in vain for ${what}`);
    await pause(LOOK_MS);
  }
}
