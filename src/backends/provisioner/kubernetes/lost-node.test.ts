/** What becomes of units whose node is gone, and of pods that could not be given to units at first. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SILENT } from '../../../lib/logger.ts';
import { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Deployment, Pod } from '../../../kubernetes/objects.ts';
import type { Provisioner, UnitExited, UnitSpec } from '../../../domain/units/provisioner.ts';
import { NEVER, SERVES, UNLIMITED } from '../conformance-suite.ts';
import { createKubernetesProvisioner } from './kubernetes-provisioner.ts';
import { SmallCluster } from './testing/cluster.ts';
import { bookOf } from './unit-book.ts';

const [ID, OTHER, NEXT] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'] as const;
const specOf = (id: string): UnitSpec => ({
  ...{ id, app: 'shop', name: 'shop/0', process: 'web', rollout: 'first', artifact: 'shop/1' },
  ...{
    image: `registry.test/shop@sha256:${'0'.repeat(64)}`,
    command: 'serve',
    env: {},
    listens: true,
    limits: UNLIMITED,
  },
});

let cluster: SmallCluster;
let provisioner: Provisioner;
let exits: UnitExited[];

beforeEach(async () => {
  cluster = new SmallCluster();
  await cluster.server.start();
  provisioner = createKubernetesProvisioner({
    name: 'cluster',
    client: new KubernetesClient(cluster.server.access()),
    settings: { installation: 'ours', namespace: 'apps', imagePullSecret: null, user: 1000, reachedFrom: [] },
    logger: SILENT,
  });
  exits = [];
  provisioner.onExit((exited) => exits.push(exited));
});
afterEach(async () => {
  await provisioner.close();
  await cluster.close();
});

const pods = (): Pod[] => cluster.server.store.of(KINDS.pods);
const deployments = (): Deployment[] => cluster.server.store.of(KINDS.deployments);
const podOf = (id: string): string => deployments().map((one) => bookOf(one).get(id)?.pod ?? '')[0] ?? '';

const route = (...ids: readonly string[]): void => provisioner.routed?.(new Set(ids));

/** Resolves with the pod of the first. */
async function serving(...ids: readonly string[]): Promise<string> {
  for (const id of ids) {
    await provisioner.ensure(specOf(id));
    await provisioner.ready(id, SERVES, NEVER);
  }
  route(...ids);
  return podOf(ids[0] ?? '');
}

function noteReady(pod: string, status: 'True' | 'False'): void {
  cluster.server.store.update('pods', { name: pod, namespace: 'apps' }, undefined, (one) => ({
    ...one,
    status: { ...(one as Pod).status, conditions: [{ type: 'Ready', status }] },
  }));
}

it('a unit whose node is lost has ended once, waits with the reason, and lives again where it is replaced', async () => {
  const lost = await serving(ID, OTHER);
  await cluster.loseNodeOf(lost);
  await expect.poll(() => exits.map(({ id, isLost }) => [id, isLost])).toEqual([[ID, true]]);
  const seen = (await provisioner.list()).find(({ id }) => id === ID);
  expect([seen?.state, seen?.address, seen?.reason]).toEqual([
    'unknown',
    null,
    'its node node-1 says nothing any more',
  ]);
  const again = provisioner.ready(ID, SERVES, NEVER);
  // As Kubernetes does after a while.
  cluster.server.store.delete('pods', { name: lost, namespace: 'apps' }, { propagation: 'Background' });
  const address = await again;
  expect(podOf(ID)).not.toBe(lost);
  expect((await fetch(`http://${address?.host}:${address?.port}/`)).status).toBe(200);
  expect(exits).toHaveLength(1);
});

it('a node that says nothing is not asked for what its units have printed', async () => {
  const lost = await serving(ID, OTHER);
  await cluster.loseNodeOf(lost);
  await expect.poll(() => exits.map(({ id }) => id)).toEqual([ID]);
  const before = cluster.server.requests.length;
  expect(await provisioner.lastLines(ID, 5)).toEqual([]);
  expect(cluster.server.requests.slice(before).filter((one) => one.includes('/log'))).toEqual([]);
});

it('a pod that somebody takes away is lost with it; a program that ends is not', async () => {
  const pod = await serving(ID);
  cluster.server.store.delete('pods', { name: pod, namespace: 'apps' }, { propagation: 'Background' });
  await expect.poll(() => exits.map(({ id, isLost }) => [id, isLost])).toEqual([[ID, true]]);
  await provisioner.ready(ID, SERVES, NEVER);
  await cluster.kill(podOf(ID));
  await expect.poll(() => exits.map(({ signal, isLost }) => [signal, isLost]).at(-1)).toEqual(['SIGKILL', undefined]);
});

it('a unit that is looked for where it is no more has ended there, which is reported', async () => {
  await serving(ID);
  const probe = { address: { host: '127.0.0.9', port: 8080 }, timeoutMs: 1_000, kind: 'accept' } as const;
  expect(await provisioner.probe(ID, probe, NEVER)).toEqual({ kind: 'unknown' });
  expect(exits.map(({ id, isLost }) => [id, isLost])).toEqual([[ID, true]]);
});

it('says how long Kubernetes keeps units on a node that is lost', async () => {
  await serving(ID);
  const kept = deployments().flatMap(({ spec }) => spec.template.spec.tolerations ?? []);
  expect(kept.map(({ key, effect, tolerationSeconds }) => [key, effect, tolerationSeconds])).toEqual([
    ['node.kubernetes.io/not-ready', 'NoExecute', 30],
    ['node.kubernetes.io/unreachable', 'NoExecute', 30],
  ]);
});

it('a unit whose node comes back has not ended a second time, and may be lost again', async () => {
  const pod = await serving(ID, OTHER);
  noteReady(pod, 'False');
  await expect.poll(() => exits.length).toBe(1);
  noteReady(pod, 'True');
  expect(await provisioner.ready(ID, SERVES, NEVER)).not.toBeNull();
  expect(exits).toHaveLength(1);
  noteReady(pod, 'False');
  await expect.poll(() => exits.length).toBe(2);
});

it('where nobody hears of any unit none has ended, until one is heard of again', async () => {
  const pods = [await serving(ID, OTHER), podOf(OTHER)];
  for (const pod of pods) noteReady(pod, 'False');
  await expect.poll(async () => (await provisioner.list()).map(({ state }) => state)).toEqual(['unknown', 'unknown']);
  expect(exits.slice(1)).toEqual([]);
  noteReady(pods[0] ?? '', 'True');
  await expect.poll(() => exits.map(({ id }) => id).at(-1)).toBe(OTHER);
});

const stateOf = async (id: string) => (await provisioner.list()).find((one) => one.id === id)?.state;

it('where nobody hears of any unit, one that is just coming up takes the place of the others when it has requests', async () => {
  const pods = [await serving(ID, OTHER), podOf(OTHER)];
  for (const pod of pods) noteReady(pod, 'False');
  await expect.poll(() => stateOf(OTHER)).toBe('unknown');
  const before = exits.length;
  await provisioner.ensure(specOf(NEXT));
  await expect.poll(() => stateOf(NEXT)).toBe('running');
  await provisioner.ready(NEXT, SERVES, NEVER);
  expect(exits.length).toBe(before);
  route(ID, OTHER, NEXT);
  expect(exits.map(({ id }) => id)).toContain(OTHER);
});

it('one that has requests stays for as long as those have none that are heard of', async () => {
  const lost = await serving(ID, OTHER);
  noteReady(lost, 'False');
  await expect.poll(() => exits.map(({ id }) => id)).toEqual([ID]);
  route(OTHER);
  noteReady(podOf(OTHER), 'False');
  await expect.poll(() => stateOf(OTHER)).toBe('unknown');
  noteReady(lost, 'True');
  await expect.poll(() => stateOf(ID)).toBe('running');
  await provisioner.ready(ID, SERVES, NEVER);
  expect(exits.map(({ id }) => id)).toEqual([ID]);
  route(ID, OTHER);
  expect(exits.map(({ id }) => id)).toEqual([ID, OTHER]);
});

it('a unit whose node is lost is stopped without it, and leaves nothing in the cluster', async () => {
  await cluster.loseNodeOf(await serving(ID));
  await provisioner.stop(ID, 30_000);
  await provisioner.remove(ID);
  expect(pods()).toEqual([]);
  expect(deployments()).toEqual([]);
});

it('a pod that could not be given to its unit is given to it a moment later', async () => {
  let isRefused = false;
  cluster.server.store.listen(() => {
    if (isRefused || pods().length === 0) return;
    isRefused = true;
    // It is looked at once more for what comes meanwhile.
    cluster.server.faults.push({ status: 403 }, { status: 403 });
  });
  await serving(ID);
  expect(isRefused).toBe(true);
  expect(cluster.server.faults).toEqual([]);
});
