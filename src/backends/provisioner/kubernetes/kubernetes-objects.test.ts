/** What the engine has in a cluster, beyond what every engine does. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SILENT } from '../../../lib/logger.ts';
import { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Deployment, Pod } from '../../../kubernetes/objects.ts';
import type { Provisioner, UnitExited, UnitSpec } from '../../../domain/units/provisioner.ts';
import { NEVER, SERVES, UNLIMITED } from '../conformance-suite.ts';
import { Groups } from './groups.ts';
import { createKubernetesProvisioner } from './kubernetes-provisioner.ts';
import { LABELS } from './labels.ts';
import { SmallCluster } from './testing/cluster.ts';
import { UnitPods } from './unit-pods.ts';

const IMAGE = `registry.test/shop@sha256:${'0'.repeat(64)}`;
const SETTINGS = {
  installation: 'ours',
  namespace: 'apps',
  imagePullSecret: 'registry',
  user: 1234,
  reachedFrom: ['10.1.0.0/16'],
};
const IDS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'] as const;

let cluster: SmallCluster;
let opened: { provisioner: Provisioner; exits: UnitExited[] }[];

function control(): { provisioner: Provisioner; exits: UnitExited[] } {
  const client = new KubernetesClient(cluster.server.access());
  const provisioner = createKubernetesProvisioner({ name: 'cluster', client, settings: SETTINGS, logger: SILENT });
  const exits: UnitExited[] = [];
  provisioner.onExit((exited) => exits.push(exited));
  opened.push({ provisioner, exits });
  return { provisioner, exits };
}

const unit = (id: string, changes: Partial<UnitSpec> = {}): UnitSpec => ({
  ...{ id, app: 'shop', name: 'shop/0', process: 'web', rollout: 'first', artifact: 'shop/1', image: IMAGE },
  ...{ command: 'serve', env: { COLOUR: 'red' }, listens: true, limits: UNLIMITED, ...changes },
});
const deployments = (): Deployment[] => cluster.server.store.of(KINDS.deployments);
const pods = (): Pod[] => cluster.server.store.of(KINDS.pods);

/** Whose deaths are known by now; of those that are back it is asked once. */
async function reported({ provisioner, exits }: ReturnType<typeof control>): Promise<string[]> {
  const back = await provisioner.comebacks(new Set(IDS));
  return [...exits, ...back].map(({ id }) => id);
}

beforeEach(async () => {
  opened = [];
  cluster = new SmallCluster();
  await cluster.server.start();
});
afterEach(async () => {
  await Promise.all(opened.map(({ provisioner }) => provisioner.close()));
  await cluster.close();
});

it('has one Deployment for equal units of a rollout, as many pods as units, and all goes with the last of them', async () => {
  const { provisioner } = control();
  const handles = await Promise.all(IDS.map((id) => provisioner.ensure(unit(id))));
  for (const id of IDS) await provisioner.ready(id, SERVES, NEVER);
  expect(new Set(handles).size).toBe(1);
  expect(deployments().map(({ spec }) => spec.replicas)).toEqual([3]);
  await provisioner.ensure(unit('dddddddddddd', { env: { COLOUR: 'blue' } }));
  await provisioner.ensure(unit('eeeeeeeeeeee', { rollout: 'second' }));
  expect(
    deployments()
      .map(({ spec }) => spec.replicas)
      .sort(),
  ).toEqual([1, 1, 3]);
  for (const { id } of await provisioner.list()) {
    await provisioner.stop(id, 1_000);
    await provisioner.remove(id);
  }
  const left = ['deployments', 'secrets', 'pods', 'networkpolicies', 'poddisruptionbudgets'].map((kind) =>
    cluster.server.store.all(kind),
  );
  await expect.poll(() => pods().length).toBe(0);
  expect(left.slice(0, 2)).toEqual([[], []]);
  expect(left.slice(3)).toEqual([[], []]);
});

it('leaves a unit where it runs that has come to be of another rollout, for every control, and takes it along when it starts again', async () => {
  const { provisioner } = control();
  const handle = await provisioner.ensure(unit(IDS[0], { rollout: 'scale' }));
  await provisioner.ready(IDS[0], SERVES, NEVER);
  expect(await provisioner.ensure(unit(IDS[0]))).toBe(handle);
  expect(await control().provisioner.ensure(unit(IDS[0]))).toBe(handle);
  expect(deployments().map(({ spec }) => spec.replicas)).toEqual([1]);
  await provisioner.stop(IDS[0], 1_000);
  expect(await provisioner.ensure(unit(IDS[0]))).not.toBe(handle);
  await provisioner.ready(IDS[0], SERVES, NEVER);
  await expect.poll(() => deployments().map(({ spec }) => spec.replicas)).toEqual([1]);
});

it('has commands end soon by themselves when nobody says any more that they are waited for', async () => {
  const { provisioner } = control();
  const jobs = (): (number | undefined)[] =>
    cluster.server.store.of(KINDS.jobs).map(({ spec }) => spec.activeDeadlineSeconds);
  const stop = new AbortController();
  const ran = provisioner.exec({
    ...{ unit: unit(IDS[0]), command: 'stay', timeoutMs: 3_600_000, signal: stop.signal },
    output: async () => {},
  });
  await expect.poll(() => jobs().every((seconds = 0) => seconds > 0 && seconds < 60) && jobs().length).toBe(1);
  stop.abort();
  await expect(ran).rejects.toMatchObject({ code: 'cancelled' });
});

it('keeps nothing of what a unit printed that is stored when it is ended', async () => {
  const { provisioner } = control();
  await provisioner.ensure(unit(IDS[0], { command: 'print one; print two; stay', listens: false }));
  let cursor = '';
  for await (const chunk of provisioner.output(IDS[0], null, NEVER)) {
    cursor = chunk.cursor;
    await provisioner.consumed(IDS[0], cursor);
    if (chunk.lines.at(-1)?.text === 'two') break;
  }
  await provisioner.stop(IDS[0], 1_000);
  await expect.poll(() => pods().length).toBe(0);
  const left = [];
  for await (const { lines } of provisioner.output(IDS[0], null, NEVER)) left.push(...lines);
  expect(left).toEqual([]);
});

it('is as strict with pods as Pod Security "restricted" asks, and keeps the environment in a secret', async () => {
  const { provisioner } = control();
  const limits = { memoryBytes: 256 * 1024 ** 2, cpuMillis: 500, processes: 0, diskBytes: 1024 ** 3 };
  const placement = { engine: 'cluster', options: { 'node-selector': 'disk=ssd,zone=a' } };
  await provisioner.ensure(unit(IDS[0], { limits, placement, services: [{ host: '10.9.8.7', port: 5432 }] }));
  const [pod] = pods();
  const [container] = pod?.spec.containers ?? [];
  expect(pod?.spec).toMatchObject({
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: 'registry' }],
    nodeSelector: { disk: 'ssd', zone: 'a' },
    securityContext: { runAsNonRoot: true, runAsUser: 1234, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(container).toMatchObject({
    image: IMAGE,
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    resources: { limits: { memory: '268435456', cpu: '500m', 'ephemeral-storage': '1073741824' } },
  });
  expect(JSON.stringify(pod)).not.toContain('red');
  const [policy] = cluster.server.store.of(KINDS.networkPolicies);
  expect(policy?.spec.ingress).toEqual([
    { from: [{ ipBlock: { cidr: '10.1.0.0/16' } }], ports: [{ port: 8080, protocol: 'TCP' }] },
  ]);
  expect(JSON.stringify(policy?.spec.egress)).toContain('10.9.8.7/32');
  expect(cluster.server.store.of(KINDS.disruptionBudgets).map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
});

it('reports a pod that is lost, and finds the one that takes its place', async () => {
  const { provisioner, exits } = control();
  await provisioner.ensure(unit(IDS[0]));
  const before = await provisioner.ready(IDS[0], SERVES, NEVER);
  const [pod] = pods();
  cluster.server.store.delete(
    'pods',
    { name: pod?.metadata.name ?? '', namespace: 'apps' },
    { propagation: 'Background' },
  );
  await expect.poll(() => exits.map(({ id }) => id)).toEqual([IDS[0]]);
  const after = await provisioner.ready(IDS[0], SERVES, NEVER);
  expect(after).not.toEqual(before);
  expect((await provisioner.list()).map(({ id, state }) => [id, state])).toEqual([[IDS[0], 'running']]);
});

it('lets several controls work at once: no unit is there twice, none is lost', async () => {
  const [one, other] = [control().provisioner, control().provisioner];
  await Promise.all(IDS.flatMap((id) => [one.ensure(unit(id)), other.ensure(unit(id))]));
  const addresses = await Promise.all(IDS.map((id) => one.ready(id, SERVES, NEVER)));
  expect(await Promise.all(IDS.map((id) => other.ready(id, SERVES, NEVER)))).toEqual(addresses);
  expect(new Set(addresses.map((address) => address?.host)).size).toBe(3);
  expect(deployments().map(({ spec }) => spec.replicas)).toEqual([3]);
  await Promise.all([one.stop(IDS[0], 1_000), other.stop(IDS[1], 1_000)]);
  await expect.poll(() => pods().map(({ metadata }) => metadata.labels?.[LABELS.unit])).toEqual([IDS[2]]);
});

it('forgets units of other controls when those have removed them', async () => {
  const { provisioner } = control();
  const client = new KubernetesClient(cluster.server.access());
  const options = { client, groups: new Groups(client), installation: 'ours', logger: SILENT, onExit: () => {} };
  const other = new UnitPods(options);
  other.begin('apps');
  await provisioner.ensure(unit(IDS[0]));
  await provisioner.ensure(unit(IDS[1]));
  await expect.poll(() => IDS.map((id) => other.groupOf(id) !== null)).toEqual([true, true, false]);
  for (const id of [IDS[0], IDS[1]]) {
    await provisioner.stop(id, 1_000);
    await expect.poll(() => other.lastPodOf(id)).not.toBeNull();
    await provisioner.remove(id);
    await expect.poll(() => [other.groupOf(id), other.lastPodOf(id)]).toEqual([null, null]);
  }
  await other.close();
  client.close();
});

it('leaves alone what is not its own', async () => {
  const client = new KubernetesClient(cluster.server.access());
  const labels = {
    ...{ 'app.kubernetes.io/managed-by': 'tancho', [LABELS.installation]: 'theirs', [LABELS.group]: 'web' },
  };
  const spec = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: IMAGE, command: ['stay'] }] } },
  };
  await client.create(KINDS.deployments, {
    metadata: {
      name: 'web',
      namespace: 'apps',
      labels,
      annotations: { 'tancho.dev/units': '{"ffffffffffff":{"end":null}}' },
    },
    spec,
  });
  const before = JSON.stringify(deployments());
  const { provisioner } = control();
  expect(await provisioner.list()).toEqual([]);
  await provisioner.stop('ffffffffffff', 0);
  await provisioner.remove('ffffffffffff');
  expect(JSON.stringify(deployments())).toBe(before);
  client.close();
});

it('takes units for running when the cluster is not reached at the start, and hears of their deaths later', async () => {
  const first = control();
  const handle = await first.provisioner.ensure(unit(IDS[0]));
  await first.provisioner.ready(IDS[0], SERVES, NEVER);
  await first.provisioner.close();
  const access = cluster.server.access();
  let isAway = true;
  const away = {
    ...access,
    login: async () => {
      if (isAway) throw new Error('away');
      return access.login();
    },
  };
  const client = new KubernetesClient(away);
  const provisioner = createKubernetesProvisioner({
    name: 'cluster',
    client,
    settings: SETTINGS,
    logger: SILENT,
    reachedMs: 100,
  });
  const exits: UnitExited[] = [];
  provisioner.onExit((exited) => exits.push(exited));
  opened.push({ provisioner, exits });
  expect(await provisioner.recover(new Map([[IDS[0], handle]]))).toEqual(new Set([IDS[0]]));
  const unknown = { id: IDS[0], state: 'unknown', reason: expect.stringContaining('away') as string };
  expect(await provisioner.list()).toMatchObject([unknown]);
  await cluster.kill(pods()[0]?.metadata.name ?? '');
  isAway = false;
  await provisioner.listed?.();
  await expect.poll(() => reported({ provisioner, exits })).toContain(IDS[0]);
  expect((await provisioner.ready(IDS[0], SERVES, NEVER))?.port).toBe(8080);
});

it('does not have a start wait for a long list: units run on, are followed and ended as ever, and deaths are reported when it is there', async () => {
  const first = control();
  const handles = new Map<string, string>();
  for (const id of IDS.slice(0, 2)) {
    handles.set(id, await first.provisioner.ensure(unit(id, { command: 'print begun; serve' })));
    await first.provisioner.ready(id, SERVES, NEVER);
  }
  const podOf = (id: string): string =>
    pods().find(({ metadata }) => metadata.labels?.[LABELS.unit] === id)?.metadata.name ?? '';
  await expect.poll(() => IDS.slice(0, 2).map(podOf)).not.toContain('');
  await first.provisioner.close();
  const access = cluster.server.access();
  const listing = Promise.withResolvers<void>();
  const slow = { ...access, login: () => listing.promise.then(access.login) };
  const provisioner = createKubernetesProvisioner({
    ...{ name: 'cluster', client: new KubernetesClient(slow), settings: SETTINGS, logger: SILENT, listedMs: 100 },
  });
  const exits: UnitExited[] = [];
  provisioner.onExit((exited) => exits.push(exited));
  opened.push({ provisioner, exits });
  expect(await provisioner.recover(handles)).toEqual(new Set(handles.keys()));
  expect((await provisioner.list()).map(({ state }) => state)).toEqual(['unknown', 'unknown']);
  const reading = provisioner.output(IDS[0], null, NEVER)[Symbol.asyncIterator]();
  const printed = reading.next();
  const ended = provisioner.stop(IDS[1], 0);
  await cluster.kill(podOf(IDS[0]));
  listing.resolve();
  await provisioner.listed?.();
  await expect.poll(() => reported({ provisioner, exits })).toContain(IDS[0]);
  expect((await printed).done).toBe(false);
  await ended;
  await expect.poll(async () => (await provisioner.list()).map(({ state }) => state)).toEqual(['running', 'ended']);
  await reading.return?.();
});

it('lists what there is from the moment it is opened, and misses no death until it takes up its units', async () => {
  const first = control();
  const handle = await first.provisioner.ensure(unit(IDS[0]));
  await first.provisioner.ready(IDS[0], SERVES, NEVER);
  await first.provisioner.close();
  await expect.poll(() => cluster.server.watchCount).toBe(0);
  const { provisioner, exits } = control();
  await expect.poll(() => cluster.server.watchCount).toBe(2);
  await cluster.kill(pods()[0]?.metadata.name ?? '');
  const restarts = (): (number | undefined)[] =>
    pods().map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
  await expect.poll(restarts).toEqual([1]);
  await provisioner.recover(new Map([[IDS[0], handle]]));
  const back = (await provisioner.comebacks(new Set([IDS[0]]))).map(({ id }) => id);
  await expect.poll(() => [...back, ...exits.map(({ id }) => id)]).toEqual([IDS[0]]);
});

it('reports units as unknown while the cluster is away that it knew before, and what they do as soon as it is back', async () => {
  const { provisioner } = control();
  await provisioner.ensure(unit(IDS[0]));
  await provisioner.ready(IDS[0], SERVES, NEVER);
  expect(await provisioner.list()).toMatchObject([{ id: IDS[0], app: 'shop', state: 'running' }]);
  cluster.server.isAway = true;
  const states = async (): Promise<string[]> => (await provisioner.list()).map(({ state }) => state);
  await expect.poll(states).toEqual(['unknown']);
  expect(await provisioner.list()).toMatchObject([
    { app: 'shop', reason: expect.stringMatching(/^Kubernetes is not reached/) },
  ]);
  cluster.server.isAway = false;
  await expect.poll(states).toEqual(['running']);
});

it('says that the cluster is away, or refuses, in words of the platform', async () => {
  const { provisioner } = control();
  await provisioner.ensure(unit(IDS[0]));
  await expect.poll(() => pods()[0]?.metadata.labels?.[LABELS.unit]).toBe(IDS[0]);
  cluster.server.faults.push({ status: 403 });
  await expect(provisioner.ensure(unit(IDS[1]))).rejects.toMatchObject({
    code: 'unavailable',
    hint: expect.stringContaining('docs/engines.md') as string,
  });
  cluster.server.faults.push({ status: 422 });
  await expect(provisioner.ensure(unit(IDS[1]))).rejects.toMatchObject({ code: 'internal' });
  await expect(provisioner.ensure(unit(IDS[1], { image: '' }))).rejects.toMatchObject({ code: 'invalid_config' });
});
