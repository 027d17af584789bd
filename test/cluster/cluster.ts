/**
 * A real Kubernetes cluster of one node on this machine, for tests: etcd, API server, controllers, scheduler, kubelet, containerd, and Debian's
 * docker-registry. Everything of it lies in one directory, below one control group, and ends with close(), or at the next start.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { findProgram } from '../../src/lib/find-program.ts';
import { readProcess } from '../../src/lib/processes.ts';
import { DOCKER_REGISTRY, startDockerRegistry } from '../support/docker-registry.ts';
import { freePort } from '../support/free-port.ts';
import { ImageRegistry } from '../support/image-registry.ts';
import { nodeImage, pauseImage } from './base-image.ts';
import { startControlPlane } from './control-plane.ts';
import { makeCredentials } from './credentials.ts';
import { PREFIX, removeCluster, removeLeftovers } from './leftovers.ts';
import { CNI_PROGRAMS, startNode } from './node.ts';
import { Parts } from './parts.ts';

const FORWARDING = '/proc/sys/net/ipv4/ip_forward';
const PARTS = ['kubelet', 'containerd', 'kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'];

export interface Cluster {
  readonly kubeconfig: string;
  readonly client: KubernetesClient;
  /** Network of its pods, which this machine reaches. */
  readonly pods: string;
  /** Of docker-registry, empty at first: `host:port`. */
  readonly registry: string;
  /** With Node and a shell: what code can be built on. */
  readonly base: string;
  readonly parts: Parts;
  close(): Promise<void>;
}

/** '' where a cluster can be had here, else what is missing; that its servers are built is not asked. */
export function withoutCluster(): string {
  if (process.getuid?.() !== 0) return 'a cluster takes root';
  const missing = [
    'containerd',
    'containerd-shim-runc-v2',
    'ctr',
    'runc',
    'busybox',
    'docker-registry',
    'npm',
    'openssl',
    'setpriv',
  ].filter((name) => findProgram(name) === null);
  if (!existsSync(path.join(CNI_PROGRAMS, 'ptp'))) missing.push('containernetworking-plugins');
  if (missing.length > 0) return `a cluster takes programs that are not installed: ${missing.join(', ')}`;
  return addressOfThis() === null ? 'a cluster takes an address of this machine that is not loopback' : '';
}

/** `program`: the servers, see program.ts. */
export async function startCluster(program: string): Promise<Cluster> {
  await removeLeftovers(tmpdir());
  const directory = mkdtempSync(path.join(tmpdir(), PREFIX));
  writeFileSync(path.join(directory, 'owner'), `${process.pid} ${readProcess(process.pid)?.start ?? ''}`);
  const forwarding = readFileSync(FORWARDING);
  const parts = new Parts(directory);
  const images = await ImageRegistry.start();
  const registry = await startDockerRegistry(DOCKER_REGISTRY ?? '');
  let client: KubernetesClient | null = null;
  const close = async (): Promise<void> => {
    client?.close();
    for (const name of PARTS) await parts.stop(name);
    await Promise.all([images.close(), registry.close()]);
    await removeCluster(directory);
    writeFileSync(FORWARDING, forwarding);
  };
  try {
    const busybox = findProgram('busybox') ?? '';
    const port = await freePort();
    const address = addressOfThis() ?? '';
    images.addImage('pause', '1', pauseImage(busybox));
    images.addImage('node', '1', nodeImage(busybox, findProgram('npm') ?? ''));
    mkdirSync(path.join(directory, 'keys'));
    const credentials = await makeCredentials(path.join(directory, 'keys'), `https://127.0.0.1:${port}`, address);
    ({ client } = await startControlPlane({ program, parts, directory, credentials, port }));
    const network = `10.245.${1 + Math.floor(Math.random() * 254)}`;
    const own = { controlGroup: path.basename(directory), pauseImage: `${images.host}/pause:1` };
    await startNode({ program, parts, directory, credentials, client, address, network, ...own });
    const { kubeconfig } = credentials;
    return {
      ...{ kubeconfig, client, parts, close, registry: registry.host },
      ...{ pods: `${network}.0/24`, base: `${images.host}/node:1` },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function addressOfThis(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;
}
