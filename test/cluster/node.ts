/** A node that really runs pods: containerd and a kubelet, with addresses of pods that this machine reaches. Control groups of either version. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { ClusterNode, Pod } from '../../src/kubernetes/objects.ts';
import { freePort } from '../support/free-port.ts';
import { makeControlGroups } from './control-groups.ts';
import type { Credentials } from './credentials.ts';
import { killContainers } from './leftovers.ts';
import { CLUSTER_DOMAIN } from './names.ts';
import type { Parts } from './parts.ts';

export const CNI_PROGRAMS = '/usr/lib/cni';

interface NodeOptions {
  readonly name: string;
  readonly program: string;
  readonly parts: Parts;
  /** Its own. */
  readonly directory: string;
  readonly credentials: Credentials;
  readonly client: KubernetesClient;
  /** Of this machine, and not loopback: kubelets take no other. */
  readonly address: string;
  /** Of its pods: `10.245.7`. */
  readonly network: string;
  /** Of all pods, below that of the machine. */
  readonly controlGroup: string;
  /** Its pods go before all else on this machine, as on one of their own. */
  readonly podsGoFirst: boolean;
  /** Of the container that holds the network of a pod; it does nothing. */
  readonly pauseImage: string;
  /** Registries without TLS that are not on its loopback: `host:port`. */
  readonly registries: readonly string[];
  readonly nameServer: string;
}

export interface Node {
  readonly name: string;
  /** It is lost with all that runs on it, in one moment. */
  kill(): Promise<void>;
  /** It comes back, as after a restart of the machine: nothing runs on it. Resolves when its programs are started. */
  startAgain(): Promise<void>;
}

export async function startNode(options: NodeOptions): Promise<Node> {
  const { name, parts, directory, client, credentials, program, address, controlGroup } = options;
  const [containerd, kubelet] = [`containerd-${name}`, `kubelet-${name}`];
  const socket = path.join(directory, 'containerd.sock');
  mkdirSync(path.join(directory, 'cni'), { recursive: true });
  await writeFile(path.join(directory, 'containerd.toml'), containerdConfig(options, socket));
  await writeFile(path.join(directory, 'cni', '10-pods.conflist'), JSON.stringify(networkConfig(options)));
  parts.start(containerd, ['/usr/bin/containerd', '--config', path.join(directory, 'containerd.toml')], {
    PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
  });
  const containerdAnswers = (): Promise<void> =>
    parts.ready(containerd, async () => {
      await promisify(execFile)('/usr/bin/ctr', ['-a', socket, 'version']);
      return true;
    });
  await containerdAnswers();
  makeControlGroups(controlGroup, options.podsGoFirst);
  await writeFile(path.join(directory, 'kubelet.yaml'), stringify(kubeletConfig(options, socket, await freePort())));
  parts.start(kubelet, [
    ...[program, 'kubelet', '--config', path.join(directory, 'kubelet.yaml'), '--kubeconfig', credentials.kubeconfig],
    ...['--root-dir', path.join(directory, 'kubelet'), '--cert-dir', path.join(directory, 'kubelet-keys')],
    ...['--hostname-override', name, '--node-ip', address],
  ]);
  await parts.ready(kubelet, async () => isReady(await client.get(KINDS.nodes, { name })));
  return {
    name,
    async kill() {
      // Who would start its pods again goes first.
      await parts.stop(kubelet, 'SIGKILL');
      await parts.stop(containerd, 'SIGKILL');
      await killContainers(directory, controlGroup);
    },
    async startAgain() {
      parts.startAgain(containerd);
      await containerdAnswers();
      parts.startAgain(kubelet);
    },
  };
}

export function isReady(node: ClusterNode | null): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
}

/** It may have requests. */
export function isPodReady({ metadata, status }: Pod): boolean {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
  return isReady && metadata.deletionTimestamp === undefined;
}

function containerdConfig({ directory, pauseImage, registries }: NodeOptions, socket: string): string {
  const mirrors = registries.map(
    (host) => `[plugins."io.containerd.grpc.v1.cri".registry.mirrors."${host}"]\n  endpoint = ["http://${host}"]\n`,
  );
  return `version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  netns_mounts_under_state_dir = true
  # Where CAP_SYS_RESOURCE is missing, every pod fails without it ("can't get final child's PID").
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${CNI_PROGRAMS}"
    conf_dir = "${directory}/cni"
${mirrors.join('')}`;
}

/** A pair of interfaces for each pod: no bridge and no rewriting of addresses. */
function networkConfig({ directory, network }: NodeOptions): object {
  const ranges = [[{ subnet: `${network}.0/24` }]];
  const ipam = { type: 'host-local', dataDir: `${directory}/addresses`, ranges, routes: [{ dst: '0.0.0.0/0' }] };
  return { cniVersion: '0.4.0', name: 'pods', plugins: [{ type: 'ptp', ipMasq: false, ipam }] };
}

function kubeletConfig(options: NodeOptions, socket: string, port: number): object {
  const { address, credentials, network, directory, controlGroup, nameServer } = options;
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    port,
    healthzPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: credentials.authority },
    },
    // Whoever has a certificate of this cluster.
    authorization: { mode: 'AlwaysAllow' },
    tlsCertFile: credentials.kubelet.certificate,
    tlsPrivateKeyFile: credentials.kubelet.key,
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${controlGroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    // The packet filter of the machine is its own.
    makeIPTablesUtilChains: false,
    podCIDR: `${network}.0/24`,
    clusterDNS: [nameServer],
    clusterDomain: CLUSTER_DOMAIN,
    maxPods: 110,
    serializeImagePulls: false,
    registryPullQPS: 0,
    eventRecordQPS: 0,
    evictionHard: {
      'memory.available': '100Mi',
      'nodefs.available': '1%',
      'imagefs.available': '1%',
      'nodefs.inodesFree': '1%',
    },
    podLogsDir: path.join(directory, 'pod-logs'),
    volumePluginDir: path.join(directory, 'volume-plugins'),
  };
}
