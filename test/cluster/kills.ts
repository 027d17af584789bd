/** What chaos.test.ts kills, one thing at a time. */
import { readlinkSync } from 'node:fs';
import { LABELS } from '../../src/backends/provisioner/kubernetes/labels.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';
import { readProcess, unlessGone } from '../../src/lib/processes.ts';
import type { DurableDatabase } from '../support/postgres.ts';
import { processesOf } from '../support/processes-of.ts';
import { until } from '../support/until.ts';
import { edgePid, type World } from '../support/world.ts';
import type { Cluster } from './cluster.ts';
import { endProcess, killPod } from './leftovers.ts';
import { isPodReady } from './node.ts';
import { RouteTiming } from './route-timing.ts';

export interface Kill {
  readonly kind: KillKind;
  readonly what: string;
  /** Milliseconds, by performance.now(); from `gone` on nothing was under way in it any more. */
  readonly begun: number;
  readonly gone: number;
  /** Number of the edge that was killed; null: none. */
  readonly edge: number | null;
  readonly hasUnits: boolean;
}

interface KillsOptions {
  readonly worlds: readonly World[];
  /** The edges of the first so many have requests. */
  readonly edges: number;
  readonly cluster: Cluster;
  readonly database: DurableDatabase;
  readonly namespace: string;
  /** Has two units that nobody changes. */
  readonly app: string;
  /** Numbers of servers that the balancer leaves out. */
  readonly away: Set<number>;
  /** Numbers of servers that are started again here. */
  readonly restarting: Set<number>;
  /** Resolves when nothing is wrong with the apps. */
  readonly well: (timeoutMs: number) => Promise<void>;
}

/** Less than a node may say nothing. */
const AWAY_MS = 10_000;
/** Who has a connection to what is gone hears of its end a moment later. */
const HEARD_MS = 50;
/** Kubernetes takes most of it. */
const ELSEWHERE_MS = 300_000;

type Reported = Pick<Kill, 'what'> & Partial<Kill>;

export class Kills {
  readonly #options: KillsOptions;
  #number = 0;
  readonly #ways = {
    control: () => this.#control(),
    'control and pod': () => this.#controlAndPod(),
    'all controls and a pod': () => this.#allControlsAndPod(),
    server: () => this.#server(),
    edge: () => this.#edge(),
    pod: () => this.#pod(),
    'processes of a unit': () => this.#processes(),
    node: () => this.#node(),
    'lost node': () => this.#lostNode(),
    etcd: () => this.#part('etcd'),
    'API server': () => this.#part('kube-apiserver'),
    PostgreSQL: () => this.#database(),
    registry: () => this.#registry(),
  };

  constructor(options: KillsOptions) {
    this.#options = options;
  }

  /** Resolves when it has been started again, or its place has been taken. */
  async kill(kind: KillKind): Promise<Kill> {
    this.#number += 1;
    const begun = performance.now();
    const reported: Reported = await this.#ways[kind]();
    const kill = { kind, begun, gone: performance.now(), edge: null, hasUnits: false, ...reported };
    return { ...kill, gone: kill.gone + HEARD_MS };
  }

  /** As by who watches over services: it is started again at once. */
  async #control(): Promise<Reported> {
    const { number, world } = this.#someServer();
    this.#options.restarting.add(number);
    await world.end('SIGKILL');
    const gone = performance.now();
    await world.startAgain();
    this.#options.restarting.delete(number);
    return { what: `of server ${number + 1}`, gone };
  }

  /** Before another one has gone on with its work the cluster replaces what it looked after. */
  async #controlAndPod(): Promise<Reported> {
    const { number, world } = this.#someServer();
    this.#options.restarting.add(number);
    await world.end('SIGKILL');
    const { what, gone = performance.now() } = await this.#pod();
    await world.startAgain();
    this.#options.restarting.delete(number);
    return { what: `of server ${number + 1}, and ${what}`, hasUnits: true, gone };
  }

  /** They find it replaced. */
  async #allControlsAndPod(): Promise<Reported> {
    const { worlds, restarting, cluster, namespace, app } = this.#options;
    for (const number of worlds.keys()) restarting.add(number);
    await Promise.all(worlds.map((world) => world.end('SIGKILL')));
    const { what, gone = performance.now() } = await this.#pod();
    const labels = `${LABELS.app}=${app}`;
    const isReplaced = async (): Promise<boolean> =>
      (await cluster.client.list(KINDS.pods, { namespace, labels })).items.filter(isPodReady).length === 2;
    await until(isReplaced, { what: 'the pod to be replaced', timeoutMs: ELSEWHERE_MS });
    await Promise.all(worlds.map((world) => world.startAgain()));
    restarting.clear();
    return { what: `and ${what}`, hasUnits: true, gone };
  }

  /** With all its processes, as when the pod dies that it is. */
  async #server(): Promise<Reported> {
    const { number, world } = this.#someServer(this.#options.edges);
    const { away, restarting } = this.#options;
    restarting.add(number);
    const isGone = async (): Promise<boolean> => {
      const left = (await processesOf(world.home)).filter(({ pid }) => isOutsideOfContainers(pid));
      for (const { pid } of left) endProcess(pid);
      return left.length === 0;
    };
    await until(isGone, { what: 'the server to be gone', everyMs: 1 });
    const gone = performance.now();
    away.add(number);
    await pause();
    await world.startAgain();
    away.delete(number);
    restarting.delete(number);
    return { what: `${number + 1} with its edge, away for a while`, edge: number, gone };
  }

  async #edge(): Promise<Reported> {
    const { number, world } = this.#someServer(this.#options.edges);
    const pid = await edgePid(world);
    endProcess(pid);
    await until(() => readProcess(pid)?.zombie !== false, { what: 'the edge to be gone', everyMs: 1 });
    return { what: `of server ${number + 1}`, edge: number };
  }

  async #pod(): Promise<Reported> {
    const { client } = this.#options.cluster;
    const { metadata } = await this.#somePod();
    await client.delete(KINDS.pods, metadata, { graceSeconds: 1 });
    const isGone = async (): Promise<boolean> =>
      (await client.get(KINDS.pods, metadata))?.metadata.uid !== metadata.uid;
    await until(isGone, { what: 'the pod to be gone' });
    return { what: metadata.name, hasUnits: true, gone: performance.now() };
  }

  async #processes(): Promise<Reported> {
    const { metadata } = await this.#somePod();
    await killPod(metadata.uid ?? '');
    return { what: metadata.name, hasUnits: true };
  }

  async #node(): Promise<Reported> {
    const node = this.#someNode();
    await node.kill();
    const gone = performance.now();
    await pause();
    await node.startAgain();
    return { what: node.name, hasUnits: true, gone };
  }

  /** It comes back when all that it had runs elsewhere. */
  async #lostNode(): Promise<Reported> {
    const { cluster, namespace, app, worlds, well } = this.#options;
    const node = this.#someNode();
    const homes = worlds.map(({ home }) => home);
    const timing = new RouteTiming({ client: cluster.client, namespace, app, homes });
    try {
      await timing.begun;
      await node.kill();
      const gone = performance.now();
      const isElsewhere = async (): Promise<boolean> => {
        const { items } = await cluster.client.list(KINDS.pods, { namespace });
        const left = items.filter(
          ({ metadata, spec }) => metadata.deletionTimestamp === undefined && spec.nodeName === node.name,
        );
        return left.length === 0;
      };
      const what = 'the units of the node to serve elsewhere';
      await until(isElsewhere, { what, timeoutMs: ELSEWHERE_MS, everyMs: 100 });
      await well(ELSEWHERE_MS);
      // Units may serve before their cluster says that they are ready.
      await until(() => timing.isComplete, { what: 'what takes the place of the lost to be ready', everyMs: 20 });
      const { lostMs, readyMs } = timing.result;
      const times = `lost to out of all routes: ${lostMs.join(', ')} ms; ready to in all routes: ${readyMs.join(', ')} ms`;
      return { what: `${node.name}, for good; ${times}`, hasUnits: true, gone };
    } finally {
      await timing.close();
      await node.startAgain();
    }
  }

  async #part(name: string): Promise<Reported> {
    const { parts } = this.#options.cluster;
    await parts.stop(name, 'SIGKILL');
    await pause();
    parts.startAgain(name);
    return { what: 'away for a while' };
  }

  async #database(): Promise<Reported> {
    await this.#options.database.crash();
    return { what: 'restarted as after a crash' };
  }

  async #registry(): Promise<Reported> {
    const { registry } = this.#options.cluster;
    await registry.stop();
    await pause();
    await registry.startAgain();
    return { what: 'away for a while' };
  }

  /** One of the first so many. */
  #someServer(among = this.#options.worlds.length): { readonly number: number; readonly world: World } {
    const { worlds } = this.#options;
    const number = this.#number % Math.min(among, worlds.length);
    const world = worlds[number];
    if (world === undefined) throw new Error('there is no server');
    return { number, world };
  }

  #someNode(): Cluster['nodes'][number] {
    const { nodes } = this.#options.cluster;
    const node = nodes[this.#number % nodes.length];
    if (node === undefined) throw new Error('there is no node');
    return node;
  }

  async #somePod(): Promise<Pod> {
    const { cluster, namespace, app } = this.#options;
    const { items } = await cluster.client.list(KINDS.pods, { namespace });
    const own = items.filter(({ metadata }) => metadata.name.startsWith(`${app}-web-`));
    const pod = own[this.#number % own.length];
    if (pod === undefined) throw new Error('the app has no pod');
    return pod;
  }
}

/** Units name the home of the server that has built them: they run where they were built. */
function isOutsideOfContainers(pid: number): boolean {
  const namespaceOf = (process: number | 'self'): string => readlinkSync(`/proc/${process}/ns/pid`);
  return unlessGone(() => namespaceOf(pid)) === namespaceOf('self');
}

export type KillKind =
  | 'control'
  | 'control and pod'
  | 'all controls and a pod'
  | 'server'
  | 'edge'
  | 'pod'
  | 'processes of a unit'
  | 'node'
  | 'lost node'
  | 'etcd'
  | 'API server'
  | 'PostgreSQL'
  | 'registry';

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, AWAY_MS));
