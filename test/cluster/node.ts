/** A node that really runs pods: containerd and a kubelet, with addresses of pods that this machine reaches. Control groups of either version. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import { freePort } from '../support/free-port.ts';
import type { Credentials } from './credentials.ts';
import type { Parts } from './parts.ts';

const NAME = 'node1';
const CGROUPS = '/sys/fs/cgroup';
export const CNI_PROGRAMS = '/usr/lib/cni';

interface NodeOptions {
  readonly program: string;
  readonly parts: Parts;
  readonly directory: string;
  readonly credentials: Credentials;
  readonly client: KubernetesClient;
  /** Of this machine, and not loopback: kubelets take no other. */
  readonly address: string;
  /** Of its pods: `10.245.7`. */
  readonly network: string;
  /** Of all pods, below that of the machine. */
  readonly controlGroup: string;
  /** Of the container that holds the network of a pod; it does nothing. */
  readonly pauseImage: string;
}

export async function startNode(options: NodeOptions): Promise<void> {
  const { parts, directory, client, credentials, program, address } = options;
  const socket = path.join(directory, 'containerd.sock');
  await writeFile(path.join(directory, 'containerd.toml'), containerdConfig(options, socket));
  mkdirSync(path.join(directory, 'cni'));
  await writeFile(path.join(directory, 'cni', '10-pods.conflist'), JSON.stringify(networkConfig(options)));
  parts.start('containerd', ['/usr/bin/containerd', '--config', path.join(directory, 'containerd.toml')], {
    PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
  });
  await parts.ready('containerd', async () => {
    await promisify(execFile)('/usr/bin/ctr', ['-a', socket, 'version']);
    return true;
  });
  makeControlGroups(options.controlGroup);
  await writeFile(path.join(directory, 'kubelet.yaml'), stringify(kubeletConfig(options, socket, await freePort())));
  parts.start('kubelet', [
    ...[program, 'kubelet', '--config', path.join(directory, 'kubelet.yaml'), '--kubeconfig', credentials.kubeconfig],
    ...['--root-dir', path.join(directory, 'kubelet'), '--cert-dir', path.join(directory, 'kubelet-keys')],
    ...['--hostname-override', NAME, '--node-ip', address],
  ]);
  await parts.ready('kubelet', async () => {
    const node = await client.get(KINDS.nodes, { name: NAME });
    return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  });
}

function containerdConfig({ directory, pauseImage }: NodeOptions, socket: string): string {
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
`;
}

/** A pair of interfaces for each pod: no bridge and no rewriting of addresses. */
function networkConfig({ directory, network }: NodeOptions): object {
  const ranges = [[{ subnet: `${network}.0/24` }]];
  const ipam = { type: 'host-local', dataDir: `${directory}/addresses`, ranges, routes: [{ dst: '0.0.0.0/0' }] };
  return { cniVersion: '0.4.0', name: 'pods', plugins: [{ type: 'ptp', ipMasq: false, ipam }] };
}

function kubeletConfig(options: NodeOptions, socket: string, port: number): object {
  const { address, credentials, network, directory, controlGroup } = options;
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

/** The kubelet makes none at the top: one in each hierarchy of version 1, one at all in version 2. */
function makeControlGroups(name: string): void {
  for (const hierarchy of hierarchies()) {
    const group = path.join(hierarchy, name);
    mkdirSync(group, { recursive: true });
    for (const file of ['cpuset.cpus', 'cpuset.mems'])
      if (!isUnified() && existsSync(path.join(hierarchy, file)))
        writeFileSync(path.join(group, file), readFileSync(path.join(hierarchy, file)));
  }
}

export function hierarchies(): string[] {
  if (isUnified()) return [CGROUPS];
  const names = readdirSync(CGROUPS).map((name) => path.join(CGROUPS, name));
  return names.filter((hierarchy) => existsSync(path.join(hierarchy, 'cgroup.procs')));
}

const isUnified = (): boolean => existsSync(path.join(CGROUPS, 'cgroup.controllers'));
