/** What is not to cost more where there are thousands of units: looks at one group, logs and figures of nodes that do not answer. */
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import { ApiServer } from '../../../kubernetes/testing/api-server.ts';
import { SILENT } from '../../../lib/logger.ts';
import { NEVER, SERVES, UNLIMITED } from '../conformance-suite.ts';
import { createKubernetesProvisioner } from './kubernetes-provisioner.ts';
import { keptPod } from './kept.ts';
import { ANNOTATIONS, LABELS, ownLabels, ownSelector } from './labels.ts';
import { NamespaceView } from './namespace-view.ts';
import { isOver, isUnreachable, lifeOf } from './pod-state.ts';
import { SmallCluster } from './testing/cluster.ts';
import { UsageReader } from './unit-usage.ts';

const pod = (name: string, group: string, node = 'node-1'): Pod => ({
  metadata: { name, namespace: 'apps', labels: { ...ownLabels('ours'), [LABELS.group]: group } },
  spec: { containers: [{ name: 'app', image: 'shop' }], nodeName: node },
});

describe('a view of a namespace', () => {
  let server: ApiServer;
  let client: KubernetesClient;
  let view: NamespaceView;
  beforeEach(async () => {
    server = new ApiServer();
    await server.start();
    client = new KubernetesClient(server.access());
    for (const one of [pod('a-1', 'a'), pod('a-2', 'a'), pod('b-1', 'b')]) server.store.create('pods', one);
    const silent = { onPod: () => {}, onDeployment: () => {}, onError: () => {} };
    view = new NamespaceView({ client, namespace: 'apps', selector: ownSelector('ours'), ...silent });
    await view.synced;
  });
  afterEach(async () => {
    await view.close();
    client.close();
    await server.close();
  });
  const names = (group: string): string[] => view.pods(group).map(({ metadata }) => metadata.name);
  const gone = { propagation: 'Background' } as const;

  it('has the pods of each group, as they come and go', async () => {
    expect([names('a'), names('b'), names('c')]).toEqual([['a-1', 'a-2'], ['b-1'], []]);
    server.store.delete('pods', { name: 'a-1', namespace: 'apps' }, { ...gone, graceSeconds: 0 });
    server.store.create('pods', pod('c-1', 'c'));
    await expect.poll(() => names('c')).toEqual(['c-1']);
    expect([names('a'), names('b')]).toEqual([['a-2'], ['b-1']]);
  });

  it('wakes those who wait for a group by its changes alone', async () => {
    const woken: string[] = [];
    for (const group of ['a', 'b']) void view.changed(group, NEVER).then(() => woken.push(group));
    server.store.create('pods', pod('c-1', 'c'));
    server.store.create('pods', pod('b-2', 'b'));
    await expect.poll(() => names('b')).toEqual(['b-1', 'b-2']);
    expect(woken).toEqual(['b']);
  });
});

it('what is kept of a pod is all that is asked of it, and no more', () => {
  const running = { running: { startedAt: '2026-03-04T05:06:07Z' } };
  const whole: Pod = {
    metadata: {
      ...{ name: 'a-1', namespace: 'apps', uid: '1', resourceVersion: '7', finalizers: ['x'] },
      labels: { ...ownLabels('ours'), [LABELS.group]: 'a', other: 'b' },
      annotations: { [ANNOTATIONS.reported]: '2', much: 'x'.repeat(1_000) },
    },
    spec: { ...pod('a-1', 'a').spec, serviceAccountName: 'default' },
    status: {
      ...{ phase: 'Running', podIP: '10.0.0.7' },
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'Initialized', status: 'True' },
      ],
      containerStatuses: [
        { name: 'beside', ready: true, restartCount: 9, state: running },
        { name: 'app', ready: true, restartCount: 3, state: running, lastState: { terminated: { exitCode: 137 } } },
      ],
    },
  };
  const kept = keptPod(whole);
  expect([lifeOf(kept), isOver(kept), isUnreachable(kept)]).toEqual([lifeOf(whole), false, true]);
  expect(kept.metadata.labels).toEqual({ [LABELS.group]: 'a' });
  expect(kept.metadata.annotations).toEqual({ [ANNOTATIONS.reported]: '2' });
  expect([kept.status?.podIP, kept.spec.nodeName, kept.metadata.uid]).toEqual(['10.0.0.7', 'node-1', '1']);
  expect(JSON.stringify(kept).length).toBeLessThan(JSON.stringify(whole).length / 2);
  expect(
    isOver(keptPod({ ...whole, metadata: { ...whole.metadata, deletionTimestamp: '2026-03-04T05:06:07Z' } })),
  ).toBe(true);
});

it('a node that cannot be asked what its units use is left alone for a while, the others are asked', async () => {
  const server = new ApiServer({
    nodes: {
      ...{ log: () => {}, exec: () => {} },
      stats: () => ({
        pods: ['u1', 'u2'].map((uid) => ({ podRef: { uid }, containers: [{ memory: { workingSetBytes: 7 } }] })),
      }),
    },
  });
  await server.start();
  const client = new KubernetesClient(server.access());
  const running = [
    { id: 'one', pod: { ...pod('a', 'a', 'away'), metadata: { name: 'a', uid: 'u1' } } },
    { id: 'two', pod: { ...pod('b', 'b', 'here'), metadata: { name: 'b', uid: 'u2' } } },
  ];
  try {
    const reader = new UsageReader(client, SILENT);
    server.faults.push({ status: 503 });
    const first = [...(await reader.read(running)).keys()];
    expect(first).toHaveLength(1);
    expect([...(await reader.read(running)).keys()]).toEqual(first);
    expect(server.requests).toHaveLength(3);
  } finally {
    client.close();
    await server.close();
  }
});

it('asks a node that says nothing as rarely as one that cannot be asked', async () => {
  const server = new ApiServer({
    nodes: { ...{ log: () => {}, exec: () => {} }, stats: () => ({ pods: [] }) },
  });
  await server.start();
  server.faults.push({ status: 0 });
  const client = new KubernetesClient(server.access());
  const running = [{ id: 'one', pod: { ...pod('a', 'a', 'away'), metadata: { name: 'a', uid: 'u1' } } }];
  try {
    const reader = new UsageReader(client, SILENT);
    await reader.read(running);
    await reader.read(running);
    expect(server.requests).toHaveLength(1);
  } finally {
    client.close();
    await server.close();
  }
});

it('a list that a start does not wait for goes on when somebody asks for what there is, and leaves the start alone until then', async () => {
  const server = new ApiServer();
  await server.start();
  for (let index = 0; index < 250; index++) server.store.create('pods', pod(`a-${index}`, 'a'));
  const access = server.access();
  const begun = Promise.withResolvers<void>();
  const client = new KubernetesClient({ ...access, login: () => begun.promise.then(access.login) });
  const provisioner = createKubernetesProvisioner({
    ...{ name: 'cluster', client, logger: SILENT, listedMs: 0 },
    settings: { installation: 'ours', namespace: 'apps', imagePullSecret: null, user: 1000, reachedFrom: [] },
  });
  const pages = (): number => server.requests.filter((one) => one.includes('/pods?') && one.includes('limit=')).length;
  try {
    await provisioner.recover(new Map());
    begun.resolve();
    await expect.poll(pages).toBe(1);
    for (let round = 0; round < 10; round++) await client.version().catch(() => undefined);
    expect(pages()).toBe(1);
    await provisioner.listed?.();
    expect(pages()).toBe(3);
  } finally {
    await provisioner.close();
    await server.close();
  }
});

it('a unit that nobody knows while it is not known what there is has not ended', async () => {
  const server = new ApiServer();
  await server.start();
  const provisioner = createKubernetesProvisioner({
    ...{ name: 'cluster', client: new KubernetesClient(server.access()), logger: SILENT },
    settings: { installation: 'ours', namespace: 'apps', imagePullSecret: null, user: 1000, reachedFrom: [] },
  });
  const stop = new AbortController();
  try {
    await provisioner.listed?.();
    server.isAway = true;
    await provisioner.recover(new Map([['aaaaaaaaaaaa', 'apps/a']]));
    await expect.poll(async () => (await provisioner.list()).map(({ state }) => state)).toEqual(['unknown']);
    let isOver = false;
    const reading = provisioner.output('aaaaaaaaaaaa', null, stop.signal)[Symbol.asyncIterator]().next();
    void reading.then(() => (isOver = true));
    await provisioner.list();
    expect(isOver).toBe(false);
    stop.abort();
    expect((await reading).done).toBe(true);
  } finally {
    stop.abort();
    await provisioner.close();
    await server.close();
  }
});

class WithoutLogs extends SmallCluster {
  refused = 0;
  override log(_pod: unknown, _query: unknown, response: ServerResponse): void {
    this.refused += 1;
    response.writeHead(502).end();
  }
}

it('the log of a unit whose node does not give it is asked for no sooner because others change', async () => {
  const cluster = new WithoutLogs();
  await cluster.server.start();
  const provisioner = createKubernetesProvisioner({
    ...{ name: 'cluster', client: new KubernetesClient(cluster.server.access()), logger: SILENT },
    settings: { installation: 'ours', namespace: 'apps', imagePullSecret: null, user: 1000, reachedFrom: [] },
  });
  const specOf = (id: string, app: string) => ({
    ...{ id, app, name: `${app}/0`, process: 'web', rollout: 'first', artifact: 'shop/1', command: 'serve' },
    ...{ image: `registry.test/shop@sha256:${'0'.repeat(64)}`, env: {}, listens: true, limits: UNLIMITED },
  });
  const stop = new AbortController();
  try {
    await provisioner.ensure(specOf('aaaaaaaaaaaa', 'quiet'));
    await provisioner.ready('aaaaaaaaaaaa', SERVES, NEVER);
    const reading = provisioner.output('aaaaaaaaaaaa', null, stop.signal)[Symbol.asyncIterator]().next();
    await expect.poll(() => cluster.refused).toBeGreaterThan(0);
    const before = cluster.refused;
    for (const id of ['bbbbbbbbbbbb', 'cccccccccccc', 'dddddddddddd']) {
      await provisioner.ensure(specOf(id, `busy-${id[0]}`));
      await provisioner.ready(id, SERVES, NEVER);
    }
    expect(cluster.server.store.of(KINDS.pods)).toHaveLength(4);
    // Three apps have come, with a dozen changes; by itself it may have asked once or twice more meanwhile.
    expect(cluster.refused - before).toBeLessThan(8);
    stop.abort();
    await reading;
  } finally {
    stop.abort();
    await provisioner.close();
    await cluster.close();
  }
});
