/**
 * A real Kubernetes cluster on this machine, usually of one node, for tests: etcd, API server, controllers, scheduler, kubelet, containerd, and Debian's
 * docker-registry. Everything of it lies in one directory, below one control group, and ends with close(), or at the next start.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import path from 'node:path';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { findProgram } from '../../src/lib/find-program.ts';
import { readProcess } from '../../src/lib/processes.ts';
import { DOCKER_REGISTRY, type DockerRegistry, startDockerRegistry } from '../support/docker-registry.ts';
import { freePort } from '../support/free-port.ts';
import { ImageRegistry } from '../support/image-registry.ts';
import { nodeImage, pageImage, pauseImage, serverImage } from './base-image.ts';
import { startControlPlane } from './control-plane.ts';
import { makeCredentials } from './credentials.ts';
import { forward } from './forward.ts';
import { PREFIX, removeCluster, removeLeftovers } from './leftovers.ts';
import { CNI_PROGRAMS, type Node, startNode } from './node.ts';
import { Parts } from './parts.ts';
import { takePodNetworks } from './pod-networks.ts';
import { makeRoute, nameServerOf, nodeAddressOf, outsideOf, type Services, startServices } from './services.ts';

const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

interface ClusterNode extends Node {
  /** Where its ports are, as everybody reaches them. */
  readonly outside: string;
}

export interface Cluster {
  readonly kubeconfig: string;
  readonly client: KubernetesClient;
  readonly nodes: readonly ClusterNode[];
  /** Networks of their pods, which this machine reaches. */
  readonly pods: readonly string[];
  /** Of docker-registry, empty at first: `host:port`. */
  readonly registry: DockerRegistry;
  /** With Node and a shell: what code can be built on. */
  readonly base: string;
  /** An app that answers `a page`. */
  readonly page: string;
  /** With git and what builds are isolated with: what servers of ours are put on. */
  readonly serverBase: string;
  /** Of this machine, as pods reach it. There are the registries, too, at their ports, and the ports of its first node. */
  readonly outside: string;
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
    'ip',
    'npm',
    'openssl',
    'setpriv',
  ].filter((name) => findProgram(name) === null);
  if (!existsSync(path.join(CNI_PROGRAMS, 'ptp'))) missing.push('containernetworking-plugins');
  if (missing.length > 0) return `a cluster takes programs that are not installed: ${missing.join(', ')}`;
  return addressOfThis() === null ? 'a cluster takes an address of this machine that is not loopback' : '';
}

interface ClusterOptions {
  readonly nodes?: number;
  /** A node that says nothing for so long counts as lost; absent: as Kubernetes has it. */
  readonly lostAfterSeconds?: number;
  /** Pods go before all else on this machine, as on machines of their own; absent: false. */
  readonly podsGoFirst?: boolean;
}

/** `program`: the servers, see program.ts. */
export async function startCluster(program: string, options: ClusterOptions = {}): Promise<Cluster> {
  await removeLeftovers(tmpdir());
  const directory = mkdtempSync(path.join(tmpdir(), PREFIX));
  writeFileSync(path.join(directory, 'owner'), `${process.pid} ${readProcess(process.pid)?.start ?? ''}`);
  const forwarding = readFileSync(FORWARDING);
  const parts = new Parts(directory);
  const images = await ImageRegistry.start();
  const registry = await startDockerRegistry(DOCKER_REGISTRY ?? '');
  let client: KubernetesClient | null = null;
  const ends: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends.reverse()) await end();
    client?.close();
    await parts.stopAll();
    await Promise.all([images.close(), registry.close()]);
    await removeCluster(directory);
    writeFileSync(FORWARDING, forwarding);
  };
  try {
    const busybox = findProgram('busybox') ?? '';
    const port = await freePort();
    const address = addressOfThis() ?? '';
    addImages(images, busybox);
    mkdirSync(path.join(directory, 'keys'));
    const services = `10.${20 + Math.floor(Math.random() * 100)}`;
    const outside = outsideOf(services);
    const [server, service] = [`https://127.0.0.1:${port}`, `${services}.0.1`];
    const keys = path.join(directory, 'keys');
    const credentials = await makeCredentials({ directory: keys, server, service, node: address });
    const { nodes: count = 1, lostAfterSeconds, podsGoFirst = false } = options;
    const noticing =
      lostAfterSeconds === undefined
        ? []
        : ['--node-monitor-period', '2s', '--node-monitor-grace-period', `${lostAfterSeconds}s`];
    const flags = { 'kube-controller-manager': noticing };
    ({ client } = await startControlPlane({ program, parts, directory, credentials, port, services, flags }));
    await makeRoute(directory, services);
    const addresses = new Map(
      Array.from({ length: count }, (_, number) => [`node${number + 1}`, nodeAddressOf(services, number)]),
    );
    const doors = await startServices({ client, network: services, apiPort: port, nodes: addresses });
    ends.push(() => doors.close());
    const registries: string[] = [];
    for (const { hostname, port: at } of [images.host, registry.host].map((host) => new URL(`http://${host}`))) {
      ends.push(await forward({ host: outside, port: Number(at) }, () => ({ host: hostname, port: Number(at) })));
      registries.push(`${outside}:${at}`);
    }
    const networks = await takePodNetworks(directory, count);
    const nodes: ClusterNode[] = [];
    for (const [name, nodeOutside] of addresses) {
      const node = await startNode({
        ...{ name, program, parts, credentials, client, address, network: networks[nodes.length] ?? '' },
        ...{ registries, nameServer: nameServerOf(services) },
        directory: path.join(directory, name),
        podsGoFirst,
        controlGroup: `${path.basename(directory)}/${name}`,
        pauseImage: `${images.host}/pause:1`,
      });
      nodes.push(atItsPorts(node, nodeOutside, doors));
    }
    const { kubeconfig } = credentials;
    const [base, page, serverBase] = ['node', 'page', 'server'].map((name) => `${images.host}/${name}:1`);
    return {
      ...{ kubeconfig, client, parts, nodes, close, registry, outside },
      ...{ base: base ?? '', page: page ?? '', serverBase: serverBase ?? '' },
      pods: networks.map((network) => `${network}.0/24`),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function addImages(images: ImageRegistry, busybox: string): void {
  images.addImage('pause', '1', pauseImage(busybox));
  images.addImage('node', '1', nodeImage(busybox, findProgram('npm') ?? ''));
  images.addImage('page', '1', pageImage(busybox, 'a page'));
  const forServers = serverImage(busybox);
  if (typeof forServers !== 'string') images.addImage('server', '1', forServers);
}

/** Its ports come and go with it. */
function atItsPorts(node: Node, outside: string, services: Services): ClusterNode {
  return {
    name: node.name,
    outside,
    async kill() {
      await node.kill();
      services.turnOff(node.name);
    },
    async startAgain() {
      services.turnOn(node.name);
      await node.startAgain();
    },
  };
}

function addressOfThis(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;
}
