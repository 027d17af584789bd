/** Connections to the API server are cut, and it is killed, while pods come and go: is anything missed? */
import { setTimeout as pause } from 'node:timers/promises';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { follow } from '../../src/kubernetes/follow.ts';
import { kubeconfigAccess } from '../../src/kubernetes/kubeconfig.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';
import { until } from '../../test/support/until.ts';
import type { CutConnections } from './cut-connections.ts';
import { NAMESPACE, OURS } from './deployed-apps.ts';
import type { Changing } from './reconciled.ts';
import type { SeenCluster } from './seen-cluster.ts';
import { eachOf } from './simulated-cluster.ts';

const CUTS = 30;
/** Pods that go between two cuts. */
const DELETED = 20;
const SETTLE_MS = 240_000;
const CALM_MS = 2_000;

interface Disturbed extends Changing {
  /** Between the platform and the API server. */
  readonly way: CutConnections;
  /** By which it is gone. */
  readonly kubeconfig: string;
}

/** What a client received about the pods, events in their order: `uid version`, or `uid gone`. */
interface Reported {
  readonly events: string[];
  readonly objects: ReadonlyMap<string, Pod>;
  close(): Promise<void>;
}

export async function disturb(disturbed: Disturbed): Promise<void> {
  const { bench, seen, cluster } = disturbed;
  await untilCalm(seen);
  const direct = await listen(cluster.credentials.kubeconfig);
  const cutOff = await listen(disturbed.kubeconfig);
  let cuts = 0;
  for (let round = 0; round < CUTS; round++) {
    const deleting = deletePods(disturbed, DELETED);
    cuts += disturbed.way.cut();
    await deleting;
  }
  await seen.untilSettled(SETTLE_MS);
  await until(() => direct.events.length > 0 && isSame(direct.objects, cutOff.objects), {
    ...{ what: 'the follower that was cut off to know what there is', timeoutMs: SETTLE_MS, everyMs: 100 },
  });
  bench.note(`${cuts} connections were cut in ${CUTS} moments, while ${CUTS * DELETED} pods went`);
  bench.publish({ what: 'events of pods while watches are cut', unit: 'lines', samples: [direct.events.length] });
  bench.publish({
    what: 'the same, missed or reported twice',
    unit: 'lines',
    samples: [differences(direct, cutOff)],
    most: 0,
  });
  await compare(disturbed, 'units whose address is not that of their pod, after the cuts');
  await Promise.all([direct.close(), cutOff.close()]);
  const deleting = deletePods(disturbed, 5 * DELETED).catch(() => undefined);
  await cluster.restartApiServer();
  await deleting;
  await deletePods(disturbed, 5 * DELETED);
  await seen.untilSettled(SETTLE_MS);
  await compare(disturbed, 'the same, after the API server was killed and started');
}

async function listen(kubeconfig: string): Promise<Reported> {
  const client = new KubernetesClient(await kubeconfigAccess(kubeconfig, null));
  const events: string[] = [];
  let isListening = false;
  const following = follow({
    ...{ client, kind: KINDS.pods, where: OURS, onError: () => undefined },
    onChange: ({ now, before }) => {
      const { uid = '', resourceVersion = '' } = (now ?? before)?.metadata ?? {};
      if (isListening) events.push(now === null ? `${uid} gone` : `${uid} ${resourceVersion}`);
    },
  });
  await following.synced;
  isListening = true;
  const close = (): Promise<void> => following.close().then(() => client.close());
  return { events, objects: following.objects, close };
}

/** Until no events of what went before arrive any more. */
async function untilCalm(seen: SeenCluster): Promise<void> {
  await seen.untilSettled(SETTLE_MS);
  let before = '';
  const isSameAsBefore = (): boolean => {
    const versions = [...seen.pods.objects.values()].map(({ metadata }) => metadata.resourceVersion ?? '');
    const now = versions.sort().join(' ');
    const isCalm = now === before;
    before = now;
    return isCalm;
  };
  await until(isSameAsBefore, {
    what: 'the pods to be as they were a moment ago',
    timeoutMs: SETTLE_MS,
    everyMs: CALM_MS,
  });
}

/** Both began with the same objects; what one received before the other listened is not counted. */
function differences(one: Reported, other: Reported): number {
  const [first, second] = [countsOf(one.events), countsOf(other.events)];
  return [...new Set([...first.keys(), ...second.keys()])].filter((event) => first.get(event) !== second.get(event))
    .length;
}

function countsOf(events: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const event of events) counts.set(event, (counts.get(event) ?? 0) + 1);
  return counts;
}

function isSame(one: ReadonlyMap<string, Pod>, other: ReadonlyMap<string, Pod>): boolean {
  if (one.size !== other.size) return false;
  for (const [key, { metadata }] of one)
    if (other.get(key)?.metadata.resourceVersion !== metadata.resourceVersion) return false;
  return true;
}

async function deletePods({ cluster, seen }: Disturbed, count: number): Promise<void> {
  const pods = seen.running();
  const chosen = Array.from({ length: count }, () => pods[Math.floor(Math.random() * pods.length)]);
  await eachOf([...new Set(chosen)], async (pod) => {
    if (pod === undefined) return;
    const what = { name: pod.metadata.name, namespace: NAMESPACE };
    await cluster.client.delete(KINDS.pods, what, { graceSeconds: 1 });
  });
}

async function compare({ bench, world, token, seen }: Disturbed, what: string): Promise<void> {
  const endMs = performance.now() + SETTLE_MS;
  let differing = await countDiffering();
  while (differing > 0 && performance.now() < endMs) {
    await pause(1_000);
    differing = await countDiffering();
  }
  bench.publish({ what, unit: 'lines', samples: [differing], most: 0 });

  async function countDiffering(): Promise<number> {
    const wanted = seen.addresses();
    const known = await addressesOf(world, token);
    return [...new Set([...wanted.keys(), ...known.keys()])].filter((id) => wanted.get(id) !== known.get(id)).length;
  }
}

/** Of all units, as the API has them. */
async function addressesOf(world: Disturbed['world'], token: string): Promise<Map<string, string>> {
  const names = (await world.api('GET', '/apps', { token })).json<{ Name: string }[]>().map(({ Name }) => Name);
  const addresses = new Map<string, string>();
  await eachOf(names, async (name) => {
    const app = (await world.api('GET', `/apps/${name}`, { token })).json<{ Units: { ID: string; Ip: string }[] }>();
    for (const { ID, Ip } of app.Units) addresses.set(ID, Ip);
  });
  return addresses;
}
