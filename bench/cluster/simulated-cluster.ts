/**
 * A real Kubernetes control plane on this machine, whose nodes are played by KWOK: etcd, API server, controllers and scheduler decide as ever,
 * pods get addresses and become ready, and nothing runs in them.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { ClusterNode } from '../../src/kubernetes/objects.ts';
import { findProgram } from '../../src/lib/find-program.ts';
import { readProcess } from '../../src/lib/processes.ts';
import { startControlPlane } from '../../test/cluster/control-plane.ts';
import { type Credentials, makeCredentials } from '../../test/cluster/credentials.ts';
import { PREFIX, removeCluster, removeLeftovers } from '../../test/cluster/leftovers.ts';
import { Parts } from '../../test/cluster/parts.ts';
import { buildServers } from '../../test/cluster/program.ts';
import { freePort } from '../../test/support/free-port.ts';
import { until } from '../../test/support/until.ts';

const KWOK = { name: 'kwok', source: path.resolve('bench', 'cluster', 'kwok') };
const PARTS = ['kwok', 'kubelets', 'kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'];
const ANNOTATION = 'kwok.x-k8s.io/node';
/** All of it is this machine, so whoever listens on every address answers for each pod. */
const POD_ADDRESSES = '127.64.0.0/16';
/** Nobody is reached there. */
const SERVICES = '10.96';
const AT_ONCE = 16;
const NODES_MS = 120_000;
/** Where a quick machine for each of them is asked of one that is all of them. */
const FLAGS = {
  'kube-apiserver': [
    ...['--max-requests-inflight', '1000', '--max-mutating-requests-inflight', '500', '--event-ttl', '10m'],
  ],
  'kube-controller-manager': [
    ...['--kube-api-qps', '1000', '--kube-api-burst', '2000', '--node-monitor-grace-period', '600s'],
    ...['--concurrent-deployment-syncs', '20', '--concurrent-replicaset-syncs', '20'],
  ],
  'kube-scheduler': ['--kube-api-qps', '1000', '--kube-api-burst', '2000'],
};

export interface SimulatedCluster {
  readonly client: KubernetesClient;
  readonly credentials: Credentials;
  /** Of the API server, on the loopback. */
  readonly port: number;
  readonly parts: Parts;
  addNodes(count: number): Promise<void>;
  /** Kills it and starts it anew. */
  restartApiServer(): Promise<void>;
  dispose(): Promise<void>;
}

/** '' where one can be had here, else what is missing. */
export function withoutSimulatedCluster(): string {
  const missing = ['openssl', 'setpriv', 'flock'].filter((name) => findProgram(name) === null);
  return missing.length === 0 ? '' : `it takes programs that are not installed: ${missing.join(', ')}`;
}

export async function startSimulatedCluster(): Promise<SimulatedCluster> {
  const [program, kwok] = [await built(), await built(KWOK)];
  await removeLeftovers(tmpdir());
  const directory = mkdtempSync(path.join(tmpdir(), PREFIX));
  writeFileSync(path.join(directory, 'owner'), `${process.pid} ${readProcess(process.pid)?.start ?? ''}`);
  const parts = new Parts(directory);
  let opened: KubernetesClient | null = null;
  const dispose = async (): Promise<void> => {
    opened?.close();
    for (const name of PARTS) await parts.stop(name);
    await removeCluster(directory);
  };
  try {
    const port = await freePort();
    mkdirSync(path.join(directory, 'keys'));
    const [server, keys] = [`https://127.0.0.1:${port}`, path.join(directory, 'keys')];
    const own = { server, service: `${SERVICES}.0.1`, node: '127.0.0.1' };
    const credentials = await makeCredentials({ directory: keys, ...own });
    const plane = { program, parts, directory, credentials, port, services: SERVICES, flags: FLAGS };
    const { client } = await startControlPlane(plane);
    opened = client;
    const kubelets = await freePort();
    const { certificate, key } = credentials.kubelet;
    const answering = fileURLToPath(new URL(`kubelets${path.extname(import.meta.url)}`, import.meta.url));
    parts.start('kubelets', [process.execPath, answering, `${kubelets}`, certificate, key, credentials.kubeconfig]);
    const stages = path.join(directory, 'stages.yaml');
    writeFileSync(stages, (await promisify(execFile)(kwok, ['stages'])).stdout);
    parts.start('kwok', [
      ...[kwok, '--kubeconfig', credentials.kubeconfig, '--config', stages, '--manage-all-nodes=false'],
      ...['--manage-nodes-with-annotation-selector', `${ANNOTATION}=fake`, '--cidr', POD_ADDRESSES],
      ...['--node-ip', '127.0.0.1', '--node-port', `${kubelets}`, '--server-address', `127.0.0.1:${await freePort()}`],
      ...['--node-lease-duration-seconds', '300'],
    ]);
    const restartApiServer = async (): Promise<void> => {
      await parts.stop('kube-apiserver', 'SIGKILL');
      parts.startAgain('kube-apiserver');
      await parts.ready('kube-apiserver', async () => (await client.get(KINDS.nodes, { name: nodeName(0) })) !== null);
    };
    return {
      client,
      credentials,
      port,
      parts,
      restartApiServer,
      dispose,
      addNodes: (count) => addNodes(client, count),
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function built(wanted?: typeof KWOK): Promise<string> {
  const made = await buildServers(undefined, wanted);
  if (typeof made === 'string') throw new Error(made);
  return made.program;
}

/** Resolves when all of them take pods. */
async function addNodes(client: KubernetesClient, count: number): Promise<void> {
  await eachOf(
    Array.from({ length: count }, (_, index) => nodeName(index)),
    async (name) => {
      const metadata = {
        name,
        annotations: { [ANNOTATION]: 'fake' },
        labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      };
      await client.create(KINDS.nodes, { metadata, status: { allocatable: ROOM, capacity: ROOM } });
    },
  );
  const isReady = ({ status }: ClusterNode): boolean =>
    status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
  await until(async () => (await client.list(KINDS.nodes)).items.filter(isReady).length === count, {
    ...{ what: `${count} nodes to be ready`, timeoutMs: NODES_MS, everyMs: 1_000 },
  });
}

const ROOM = { cpu: '64', memory: '256Gi', pods: '110', 'ephemeral-storage': '1Ti' };

function nodeName(index: number): string {
  return `simulated-${index}`;
}

/** So many at a time as a client of the API has connections. */
export async function eachOf<T>(values: readonly T[], work: (value: T) => Promise<void>): Promise<void> {
  const left = [...values].reverse();
  const lane = async (): Promise<void> => {
    for (let value = left.pop(); value !== undefined; value = left.pop()) await work(value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
