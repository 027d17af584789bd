/**
 * Two thousand apps as they are once they have been deployed to a cluster: what the store has of each is put there by its own writers, while
 * no server has it, and their Deployments into the cluster, as the engine makes them. Everything that follows is done by Kubernetes and the platform.
 */
import path from 'node:path';
import { desiredOf } from '../../src/backends/provisioner/kubernetes/desired.ts';
import { ANNOTATIONS, LABELS, ownSelector } from '../../src/backends/provisioner/kubernetes/labels.ts';
import { bookText } from '../../src/backends/provisioner/kubernetes/unit-book.ts';
import { createSqlStore } from '../../src/backends/store/sql/index.ts';
import { NO_SETTINGS } from '../../src/domain/apps/app-settings.ts';
import type { Release } from '../../src/domain/apps/app.ts';
import { unitSpec } from '../../src/domain/units/unit-spec.ts';
import type { Unit } from '../../src/domain/units/unit.ts';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Deployment, Pod } from '../../src/kubernetes/objects.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { openSealer } from '../../src/lib/seal.ts';
import { eachOf } from './simulated-cluster.ts';

export const ENGINE = 'cluster';
export const NAMESPACE = 'apps';
export const PORT = 8080;
const INSTALLATION = 'tancho';
const IMAGE = `registry.example.com/apps/small@sha256:${'5'.repeat(64)}`;
/** Of each unit, as the settings of the server say. */
const LIMITS = { memoryBytes: 256 * 1024 ** 2, cpuMillis: 0, processes: 0, diskBytes: 1024 ** 3 };
export const UNIT_SETTINGS = { TANCHO_UNITS_MEMORY: '256M', TANCHO_UNITS_DISK: '1G' };
const SETTINGS = {
  ...{ namespace: NAMESPACE, installation: INSTALLATION, imagePullSecret: null },
  ...{ user: 1000, reachedFrom: ['127.0.0.0/8'] },
};
/** All that is ours in the namespace. */
export const OURS = { namespace: NAMESPACE, labels: `${ownSelector(INSTALLATION)},${LABELS.group}` };
const APPS_AT_ONCE = 50;

export interface DeployedApp {
  readonly name: string;
  readonly release: Release;
  readonly units: readonly Unit[];
  readonly deployment: Deployment;
}

export function deployedApp(name: string, count: number, now = new Date().toISOString()): DeployedApp {
  const release: Release = {
    ...{ app: name, number: 1, artifact: `image-${name}`, deployId: null, commit: '', image: IMAGE, published: IMAGE },
    env: [{ name: 'GREETING', value: `hello from ${name}`, public: true, managedBy: '' }],
    processes: { web: { command: 'node server.js', count } },
    ...{ healthCheck: null, hooks: { release: [], restartBefore: [], restartAfter: [] }, limits: null },
    ...{ placement: { engine: ENGINE, options: {} }, settings: NO_SETTINGS, mounts: [], bindingNames: {} },
    ...{ maintenancePage: '', reason: 'deploy', by: 'bench', createdAt: now },
  };
  const rollout = randomHex(12);
  const bare = Array.from({ length: count }, (_, index): Unit => ({
    ...{ id: randomHex(12), app: name, index, process: 'web', release: 1, rollout, state: 'started' },
    ...{ address: null, handle: null, exits: 0, lastExit: null, createdAt: now },
  }));
  const [first] = bare;
  if (first === undefined) throw new Error('an app without units');
  const { deployment } = desiredOf(unitSpec(first, release, LIMITS), SETTINGS);
  const handle = `${ENGINE}|${NAMESPACE}/${deployment.metadata.name}`;
  const units = bare.map((unit) => ({ ...unit, handle }));
  const book = bookText(new Map(units.map(({ id }) => [id, { end: null, pod: '' }])));
  const metadata = { ...deployment.metadata, annotations: { [ANNOTATIONS.units]: book } };
  return { name, release, units, deployment: { metadata, spec: { ...deployment.spec, replicas: count } } };
}

export async function makeDeployments(client: KubernetesClient, apps: readonly DeployedApp[]): Promise<void> {
  await eachOf(apps, async ({ deployment }) => void (await client.create(KINDS.deployments, deployment)));
}

/** Each unit with its pod, as the engine gives one to each, and its address. */
export function placed(apps: readonly DeployedApp[], pods: Iterable<Pod>): DeployedApp[] {
  const byGroup = Map.groupBy(pods, ({ metadata }) => metadata.labels?.[LABELS.group] ?? '');
  return apps.map((app) => {
    const own = [...(byGroup.get(app.deployment.metadata.name) ?? [])].sort((one, other) =>
      one.metadata.name < other.metadata.name ? -1 : 1,
    );
    const units = app.units.map((unit, at) => ({
      ...unit,
      address: { host: own[at]?.status?.podIP ?? '', port: PORT },
    }));
    const { deployment } = app;
    const book = bookText(new Map(units.map(({ id }, at) => [id, { end: null, pod: own[at]?.metadata.name ?? '' }])));
    const metadata = { ...deployment.metadata, annotations: { [ANNOTATIONS.units]: book } };
    return { ...app, units, deployment: { ...deployment, metadata } };
  });
}

/** In the books of the Deployments. */
export async function notePods(client: KubernetesClient, apps: readonly DeployedApp[]): Promise<void> {
  await eachOf(apps, async ({ deployment: { metadata } }) => {
    const { annotations = {} } = metadata;
    await client.patch(KINDS.deployments, metadata, { metadata: { annotations } });
  });
}

/** Into the database of a server that is not there. */
export async function putIntoStore(home: string, apps: readonly DeployedApp[]): Promise<void> {
  const sealer = await openSealer(path.join(home, 'secret.key'));
  const file = path.join(home, 'tancho.db');
  const store = await createSqlStore({ kind: 'sqlite', file }, { sealer, logger: SILENT });
  try {
    for (let from = 0; from < apps.length; from += APPS_AT_ONCE) {
      await store.transact(async (tx) => {
        for (const { name, release, units } of apps.slice(from, from + APPS_AT_ONCE)) {
          const { createdAt: at, by } = release;
          const rollout = units[0]?.rollout ?? '';
          await tx.insertRelease(release);
          await tx.insertRollout({
            ...{ id: rollout, app: name, release: 1, reason: 'deploy', by, state: 'done', cause: null },
            ...{ startedAt: at, finishedAt: at, failuresBefore: 0, failedRequests: 0 },
          });
          await tx.updateApp(name, { release: 1, rollout, deploys: 1 });
          for (const unit of units) await tx.insertUnit(unit);
        }
      });
    }
  } finally {
    await store.close();
  }
}
