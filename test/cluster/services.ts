/**
 * What kube-proxy, the name server and the ports of nodes are in a cluster, which Debian has not: connections to the address of a Service go to one of its pods
 * that is ready, those to a port of the node to the pod that has it. The addresses are of this machine as long as there is a route that says so.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { follow, keyOf } from '../../src/kubernetes/follow.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { EndpointSlice, Pod, Service } from '../../src/kubernetes/objects.ts';
import { forward, type Target } from './forward.ts';
import { startNames } from './names.ts';

const NOTE = 'services';

interface ServicesOptions {
  readonly client: KubernetesClient;
  /** Of the Services: `10.150`. */
  readonly network: string;
  /** Where the API server listens on the loopback. */
  readonly apiPort: number;
  /** Where the ports of each node are, by its name. */
  readonly nodes: ReadonlyMap<string, string>;
}

export interface Services {
  /** A node that has lost its power takes no connection, whatever the cluster still believes; what is open is cut off. */
  turnOff(node: string): void;
  turnOn(node: string): void;
  close(): Promise<void>;
}

/** What pods reach at this machine's own address among those of Services. */
export const outsideOf = (network: string): string => `${network}.255.1`;
/** And where the ports of its nodes are, of which the first is 0. */
export const nodeAddressOf = (network: string, number: number): string => `${network}.255.${1 + number}`;
export const nameServerOf = (network: string): string => `${network}.0.10`;

/** `directory`: of the cluster, where it is noted what removeRoute() takes back. */
export async function makeRoute(directory: string, network: string): Promise<void> {
  writeFileSync(path.join(directory, NOTE), network);
  await route('replace', network);
}

export async function removeRoute(directory: string): Promise<void> {
  const note = path.join(directory, NOTE);
  if (existsSync(note)) await route('del', readFileSync(note, 'utf8')).catch(() => undefined);
}

async function route(change: 'replace' | 'del', network: string): Promise<void> {
  await promisify(execFile)('/sbin/ip', ['route', change, 'local', `${network}.0.0/16`, 'dev', 'lo']);
}

export async function startServices({ client, network, apiPort, nodes }: ServicesOptions): Promise<Services> {
  const doors = new Doors();
  const off = new Set<string>();
  const onError = (): void => {};
  const slices = follow({ client, kind: KINDS.endpointSlices, where: {}, onChange: () => {}, onError });
  const services = follow({
    ...{ client, kind: KINDS.services, where: {}, onError },
    onChange({ now, before }) {
      const key = keyOf((now ?? before) as Service);
      doors.change(before === null ? [] : portsOf(before), now === null ? [] : portsOf(now), ({ port }) =>
        targetOf(services.objects.get(key), port),
      );
    },
  });
  const pods = follow({
    ...{ client, kind: KINDS.pods, where: {}, onError },
    onChange({ now, before }) {
      const of = (pod: Pod | null): NodePort[] => (pod === null ? [] : nodePorts(pod));
      doors.change(of(before), of(now), nodeTarget);
    },
  });
  const nodePorts = (pod: Pod): NodePort[] => {
    const { nodeName = '' } = pod.spec;
    const host = off.has(nodeName) ? undefined : nodes.get(nodeName);
    return host === undefined ? [] : nodePortsOf(pod, host);
  };
  const allNodePorts = (): NodePort[] => [...pods.objects.values()].flatMap(nodePorts);
  /** A pod that is started again may have another address then. */
  const nodeTarget = ({ host, port }: Target): Target | null =>
    allNodePorts().find((one) => one.host === host && one.port === port)?.target ?? null;
  const turn = (change: () => void): void => {
    const before = allNodePorts();
    change();
    doors.change(before, allNodePorts(), nodeTarget);
  };

  function targetOf(service: Service | undefined, port: number): Target | null {
    if (service === undefined) return null;
    const { name, namespace } = service.metadata;
    if (name === 'kubernetes' && namespace === 'default') return { host: '127.0.0.1', port: apiPort };
    const wanted = service.spec.ports.find((one) => one.port === port)?.name ?? '';
    const own = [...slices.objects.values()].filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
    );
    const ready = own.flatMap((slice) => readyIn(slice, wanted));
    return ready[Math.floor(Math.random() * ready.length)] ?? null;
  }

  const find = (name: string): string | null => {
    const [service, namespace] = name.split('.');
    const { clusterIP } = services.objects.get(`${namespace}/${service}`)?.spec ?? {};
    return clusterIP === undefined || clusterIP === 'None' ? null : clusterIP;
  };
  const closeNames = await startNames(nameServerOf(network), find);
  await Promise.all([slices.synced, services.synced, pods.synced]);
  return {
    turnOff: (node) => turn(() => off.add(node)),
    turnOn: (node) => turn(() => off.delete(node)),
    async close() {
      await Promise.all([slices.close(), services.close(), pods.close(), closeNames()]);
      await doors.closeAll();
    },
  };
}

interface NodePort extends Target {
  readonly target: Target;
}

function nodePortsOf({ spec, status }: Pod, node: string): NodePort[] {
  const ports: readonly { readonly containerPort: number; readonly hostPort?: number }[] = spec.containers.flatMap(
    (container) => container.ports ?? [],
  );
  const { podIP: host, phase } = status ?? {};
  if (host === undefined || phase !== 'Running') return [];
  return ports.flatMap(({ containerPort, hostPort }) =>
    hostPort === undefined ? [] : [{ host: node, port: hostPort, target: { host, port: containerPort } }],
  );
}

function portsOf({ spec: { clusterIP, ports } }: Service): Target[] {
  if (clusterIP === undefined || clusterIP === 'None') return [];
  return ports.map(({ port }) => ({ host: clusterIP, port }));
}

function readyIn({ endpoints, ports }: EndpointSlice, wanted: string): Target[] {
  // Null, both, while nobody is ready.
  const port = ports?.find(({ name = '' }) => name === wanted)?.port;
  if (port === undefined) return [];
  return (endpoints ?? []).flatMap(({ addresses, conditions }) =>
    conditions?.ready === false ? [] : addresses.map((host) => ({ host, port })),
  );
}

const nameOf = ({ host, port }: Target): string => `${host}:${port}`;

/** Each is opened and closed in the order in which that was asked for. */
class Doors {
  readonly #changes = new Map<string, Promise<() => Promise<void>>>();

  /** What stays keeps its connections. */
  change<T extends Target>(before: readonly T[], now: readonly T[], choose: (at: T) => Target | null): void {
    const [left, right] = [before, now].map((all) => new Set(all.map(nameOf)));
    for (const at of before.filter((one) => right?.has(nameOf(one)) !== true))
      this.#change(at, () => Promise.resolve(async () => {}));
    for (const at of now.filter((one) => left?.has(nameOf(one)) !== true))
      this.#change(at, () => forward({ host: at.host, port: at.port }, () => choose(at)));
  }

  async closeAll(): Promise<void> {
    for (const change of this.#changes.values()) await (await change)();
  }

  #change(at: Target, work: () => Promise<() => Promise<void>>): void {
    const key = nameOf(at);
    const before = this.#changes.get(key) ?? Promise.resolve(async () => {});
    const after = before.then((close) => close()).then(work);
    this.#changes.set(key, after);
    after.catch((error: unknown) => {
      console.error(`the port ${key} of the cluster cannot be had: ${String(error)}`);
      this.#changes.set(
        key,
        Promise.resolve(async () => {}),
      );
    });
  }
}
