/** Units as pods of a Kubernetes cluster: a Deployment for each process of a rollout, so that it replaces what dies while control is away. */
import type { Logger } from '../../../lib/logger.ts';
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type {
  Comeback,
  ExecRequest,
  ExecResult,
  OutputChunk,
  Probe,
  ProbeResult,
  Provisioner,
  ReadyCheck,
  SeenUnit,
  Shell,
  ShellRequest,
  UnitExited,
  UnitSpec,
  UnitUsage,
} from '../../../domain/units/provisioner.ts';
import { type Address, describeExit } from '../../../domain/units/unit.ts';
import { deadline } from '../../../lib/deadline.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import { SurvivesKill } from '../../../lib/survives-kill.ts';
import { probeHttp } from '../http-check.ts';
import { desiredOf, PORT } from './desired.ts';
import { Groups, type GroupName } from './groups.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';
import { ANNOTATIONS, LABELS } from './labels.ts';
import { openShell, runCommand } from './one-off.ts';
import { isOver, isUnreachable, lastEndOf, lifeOf } from './pod-state.ts';
import { acceptsAt, waitUntilReady } from './readiness.ts';
import { translated } from './translated.ts';
import { bookOf, type UnitEnd } from './unit-book.ts';
import { UnitPods } from './unit-pods.ts';
import { UnitReader } from './unit-reader.ts';
import { UsageReader } from './unit-usage.ts';

/** Beside the grace of the unit, for the node to say that it is gone. */
const GONE_MS = 60_000;
const LOW_COST = '-1000';
const ABLE = {
  images: true,
  artifacts: 'images',
  volumes: 'none',
  links: false,
  restarts: 'engine',
  controls: 'several',
  memoryLimit: true,
  cpuLimit: true,
} as const;

interface KubernetesOptions {
  readonly name: string;
  readonly client: KubernetesClient;
  readonly settings: KubernetesSettings;
  readonly logger: Logger;
  /** How long the cluster is waited for. */
  readonly reachedMs?: number;
  /** And by a start, since it was opened. */
  readonly listedMs?: number;
}

export function createKubernetesProvisioner(options: KubernetesOptions): Provisioner {
  return new KubernetesProvisioner(options);
}

class KubernetesProvisioner implements Provisioner {
  readonly name: string;
  readonly description: string;
  readonly supports: Provisioner['supports'] = { shell: true, ...ABLE };
  readonly poolOptions = {
    namespace: { description: 'a namespace that is there', pattern: /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/ },
    'node-selector': {
      description: 'labels that its nodes have, such as disk=ssd,zone=a',
      pattern: /^[A-Za-z0-9][-A-Za-z0-9_./]*=[-A-Za-z0-9_.]*(?:,[A-Za-z0-9][-A-Za-z0-9_./]*=[-A-Za-z0-9_.]*)*$/,
    },
  };
  readonly #options: KubernetesOptions;
  readonly #groups: Groups;
  readonly #pods: UnitPods;
  readonly #reader: UnitReader;
  readonly #usage: UsageReader;
  readonly #turns = new KeyedQueue();
  #listener: ((exited: UnitExited) => void) | null = null;
  #comebacks: Comeback[] = [];
  /** What has died before it was known what there is, is known. */
  #caughtUp: Promise<unknown> = Promise.resolve();

  constructor(options: KubernetesOptions) {
    this.#options = options;
    const { client, settings, logger, name, reachedMs, listedMs } = options;
    this.name = name;
    this.description = `Kubernetes, ${client.description}, namespace ${settings.namespace}`;
    this.#groups = new Groups(client);
    const onExit = (exited: UnitExited): void => this.#listener?.(exited);
    this.#pods = new UnitPods({
      ...{ client, groups: this.#groups, installation: settings.installation, logger, onExit },
      ...(reachedMs !== undefined && { reachedMs }),
      ...(listedMs !== undefined && { listedMs }),
    });
    this.#pods.begin(settings.namespace);
    this.#reader = new UnitReader(client, this.#pods);
    this.#usage = new UsageReader(client, logger);
  }

  ensure(spec: UnitSpec): Promise<string> {
    return translated(this.name, () => this.#ensure(spec));
  }

  async #ensure(spec: UnitSpec): Promise<string> {
    const { settings } = this.#options;
    const desired = desiredOf(spec, settings);
    const { namespace, name } = desired;
    await this.#pods.view(namespace);
    const before = this.#pods.groupOf(spec.id);
    if (before !== null && (before.name !== name || before.namespace !== namespace)) {
      // It has come to be of another rollout since it was started, as units that were added do: it runs on where it is.
      if (this.#pods.bookOf(spec.id)?.end === null) {
        this.#pods.adopt(spec.id, before);
        return `${before.namespace}/${before.name}`;
      }
      await this.#turns.run(`${before.namespace}/${before.name}`, () => this.#groups.leave(before, spec.id));
    }
    this.#pods.adopt(spec.id, { namespace, name });
    await this.#turns.run(`${namespace}/${name}`, () => this.#groups.join(desired, spec.id));
    await this.#until(spec.id, () => this.#pods.bookOf(spec.id)?.end === null, GONE_MS);
    return `${namespace}/${name}`;
  }

  async ready(id: string, check: ReadyCheck, signal: AbortSignal): Promise<Address | null> {
    const lastLines = (): Promise<string[]> => this.lastLines(id, 50);
    const address = await waitUntilReady({ pods: this.#pods, id, check, signal, lastLines });
    this.#pods.serves(id);
    return address;
  }

  async probe(id: string, probe: Probe, signal: AbortSignal): Promise<ProbeResult> {
    const pod = this.#pods.podOf(id);
    if (pod === null || isOver(pod) || !lifeOf(pod).isRunning) return { kind: 'unknown' };
    if (this.#address(id)?.host !== probe.address.host) {
      this.#pods.reportMoved(id);
      return { kind: 'unknown' };
    }
    if (probe.kind === 'http') return probeHttp(probe, this.#pods.appOf(id), signal);
    return acceptsAt(probe.address, probe.timeoutMs, signal);
  }

  stop(id: string, graceMs: number, isToComeBack = false): Promise<void> {
    return translated(this.name, () => this.#stop(id, graceMs, isToComeBack));
  }

  async #stop(id: string, graceMs: number, isToComeBack: boolean): Promise<void> {
    const group = this.#pods.groupOf(id);
    if (group === null) return;
    await this.#pods.view(group.namespace);
    this.#pods.end(id);
    const pod = this.#pods.podOf(id);
    if (isToComeBack) return pod === null ? undefined : this.#endPod(id, pod.metadata.name, graceMs);
    if (this.#pods.bookOf(id)?.end !== null) return;
    const { client } = this.#options;
    const what = { name: pod?.metadata.name ?? '', namespace: group.namespace };
    if (pod !== null) {
      if (!isUnreachable(pod)) await this.#reader.keepLastWords(id, pod);
      // One pod less is wanted: this one.
      const patch = { metadata: { annotations: { [ANNOTATIONS.deletionCost]: LOW_COST } } };
      await client.patch(KINDS.pods, what, patch).catch(() => undefined);
    }
    const unknown: UnitEnd = { code: null, signal: 'SIGKILL', outOfMemory: false };
    await this.#endBooked(group, id, unknown);
    if (pod !== null) {
      await this.#endPod(id, what.name, graceMs);
      const last = this.#pods.lastPodOf(id);
      if (last !== null) await this.#endBooked(group, id, lastEndOf(last));
    }
    await this.#until(id, () => this.#pods.bookOf(id)?.end !== null, GONE_MS);
  }

  remove(id: string): Promise<void> {
    return translated(this.name, () => this.#remove(id));
  }

  async #remove(id: string): Promise<void> {
    const group = this.#pods.groupOf(id);
    if (group === null) return;
    await this.stop(id, 0);
    await this.#turns.run(`${group.namespace}/${group.name}`, () => this.#groups.leave(group, id));
    await this.#until(id, () => this.#pods.bookOf(id) === undefined, GONE_MS);
    this.#pods.forget(id);
    this.#reader.forget(id);
  }

  async list(): Promise<SeenUnit[]> {
    await this.#pods.look(this.#options.settings.namespace);
    const seen = this.#pods.deployments().flatMap((deployment) => {
      const app = deployment.metadata.labels?.[LABELS.app] ?? '';
      const ports = deployment.spec.template.spec.containers[0]?.ports ?? [];
      return [...bookOf(deployment)].map(([id, { end }]) => this.#seen({ id, app, end, listens: ports.length > 0 }));
    });
    const reported = new Set(seen.map(({ id }) => id));
    const unseen = [...this.#pods.adopted()].filter((id) => !reported.has(id) && this.#pods.troubleOf(id) !== null);
    return [...seen, ...unseen.map((id) => this.#seen({ id, app: '', end: null, listens: false }))];
  }

  /** Nothing of it is on this machine. */
  processOf(): null {
    return null;
  }

  usage(): Promise<ReadonlyMap<string, UnitUsage>> {
    return this.#usage.read(this.#running());
  }

  async recover(handles: ReadonlyMap<string, string>): Promise<Set<string>> {
    const places = new Map(
      [...handles].flatMap(([id, handle]) => {
        const slash = handle.indexOf('/');
        return slash < 0 ? [] : [[id, { namespace: handle.slice(0, slash), name: handle.slice(slash + 1) }] as const];
      }),
    );
    const namespaces = new Set([
      this.#options.settings.namespace,
      ...[...places.values()].map(({ namespace }) => namespace),
    ]);
    const listed = await Promise.all([...namespaces].map((namespace) => this.#pods.isListed(namespace)));
    for (const [id] of handles) {
      const group = this.#pods.groupOf(id) ?? places.get(id);
      if (group === undefined) continue;
      this.#pods.adopt(id, group);
    }
    this.#catchUp([...handles.keys()]);
    if (listed.includes(false)) {
      // Nobody has said that they are gone, and the cluster keeps them running: what has died is reported when it is known what is there.
      this.#options.logger.info({}, 'units of Kubernetes are taken for running until it is known what is there');
      const late = this.#pods.known().then(() => this.#catchUp([...handles.keys()]));
      this.#caughtUp = Promise.all([this.#caughtUp, late]);
    }
    const mayRun = (id: string): boolean => this.#isRunning(id) || this.#pods.viewOf(id)?.isSynced === false;
    return new Set([...handles.keys()].filter(mayRun));
  }

  #catchUp(ids: readonly string[]): void {
    for (const id of ids) {
      const comeback = this.#pods.catchUp(id);
      if (comeback !== null) this.#comebacks.push({ ...comeback, address: this.#address(id) });
    }
    for (const id of ids) if (this.#isRunning(id)) this.#pods.serves(id);
  }

  async listed(): Promise<void> {
    await this.#pods.listed();
    await this.#caughtUp;
  }

  async comebacks(ids: ReadonlySet<string>): Promise<Comeback[]> {
    const asked = this.#comebacks.filter(({ id }) => ids.has(id));
    this.#comebacks = this.#comebacks.filter(({ id }) => !ids.has(id));
    return asked;
  }

  onExit(listener: (exited: UnitExited) => void): void {
    this.#listener = listener;
  }

  output(id: string, after: string | null, signal: AbortSignal): AsyncIterable<OutputChunk> {
    return this.#reader.read(id, after, signal);
  }

  async consumed(id: string, cursor: string): Promise<void> {
    this.#reader.consumed(id, cursor);
  }

  /** The nodes have bounds of their own. */
  async giveUp(): Promise<boolean> {
    return false;
  }

  /** It lies on other disks. */
  async holdOutput(): Promise<string[]> {
    return [];
  }

  lastLines(id: string, count: number): Promise<string[]> {
    return this.#reader.lastLines(id, count);
  }

  exec(request: ExecRequest): Promise<ExecResult> {
    return translated(this.name, () => runCommand(this.#options, request));
  }

  shell(request: ShellRequest): Promise<Shell> {
    return translated(this.name, () => openShell(this.#options, request));
  }

  async link(): Promise<void> {}

  routed(units: ReadonlySet<string>): void {
    this.#pods.routed(units);
  }

  async networkFault(): Promise<null> {
    return null;
  }

  async mendNetworks(): Promise<void> {}

  async writtenData(): Promise<string[]> {
    return [];
  }

  async close(): Promise<void> {
    this.#listener = null;
    this.#reader.close();
    await this.#pods.close();
    this.#options.client.close();
  }

  #endBooked(group: GroupName, id: string, end: UnitEnd): Promise<void> {
    return this.#turns.run(`${group.namespace}/${group.name}`, () => this.#groups.end(group, id, end));
  }

  async #endPod(id: string, name: string, graceMs: number): Promise<void> {
    const view = this.#pods.viewOf(id);
    const { client } = this.#options;
    if (view === null) return;
    // With no grace at all the API forgets the pod before its node has ended it.
    const graceSeconds = Math.max(1, Math.ceil(graceMs / 1000));
    const what = { name, namespace: view.namespace };
    await client.delete(KINDS.pods, what, { graceSeconds });
    const isGone = (): boolean => view.pod(name) === null;
    const isLost = (): boolean => {
      const pod = view.pod(name);
      return pod !== null && isUnreachable(pod);
    };
    await this.#until(id, () => isGone() || isLost(), graceMs + GONE_MS);
    if (isLost()) {
      // Nobody is there to end it. The cluster forgets it, and its node ends it when it comes back.
      await client.delete(KINDS.pods, what, { graceSeconds: 0 });
      await this.#until(id, isGone, GONE_MS);
    }
    if (!isGone()) throw new SurvivesKill(`The pod ${name} has not ended.`);
  }

  #seen({ id, app, end, listens }: { id: string; app: string; end: UnitEnd | null; listens: boolean }): SeenUnit {
    const pod = this.#pods.lastPodOf(id);
    const own = { id, app, node: pod?.spec.nodeName ?? '', address: null };
    const trouble = this.#pods.troubleOf(id);
    if (trouble !== null) return { ...own, state: 'unknown', reason: `Kubernetes is not reached: ${trouble}` };
    if (end !== null) return { ...own, state: 'ended', reason: describeExit(end) };
    if (pod !== null && isUnreachable(pod))
      return { ...own, state: 'unknown', reason: `its node ${own.node} says nothing any more` };
    const life = pod === null || isOver(pod) ? null : lifeOf(pod);
    if (life?.isRunning === true)
      return { ...own, state: 'running', address: listens ? this.#address(id) : null, reason: '' };
    const died = life?.lastEnd ?? null;
    const reason =
      died === null
        ? (life?.reason ?? '')
        : `it ${describeExit(died)}, and starts again after a pause (deaths: ${life?.deaths})`;
    return { ...own, state: 'waiting', reason: reason === '' ? 'its pod is being made' : reason };
  }

  #address(id: string): Address | null {
    const host = this.#pods.podOf(id)?.status?.podIP;
    return host === undefined || host === '' ? null : { host, port: PORT };
  }

  #isRunning(id: string): boolean {
    const pod = this.#pods.podOf(id);
    return pod !== null && !isOver(pod) && lifeOf(pod).isRunning && this.#pods.bookOf(id)?.end === null;
  }

  *#running(): Generator<{ id: string; pod: NonNullable<ReturnType<UnitPods['podOf']>> }> {
    for (const deployment of this.#pods.deployments()) {
      for (const id of bookOf(deployment).keys()) {
        const pod = this.#pods.podOf(id);
        if (pod !== null && this.#isRunning(id) && !isUnreachable(pod)) yield { id, pod };
      }
    }
  }

  /** What is written is seen a moment later. False: it was not within the time. */
  async #until(id: string, isSo: () => boolean, ms: number): Promise<boolean> {
    const limited = deadline(ms, null);
    try {
      while (!isSo() && !limited.signal.aborted) await this.#pods.changed(id, limited.signal);
      return isSo();
    } finally {
      limited.clear();
    }
  }
}
