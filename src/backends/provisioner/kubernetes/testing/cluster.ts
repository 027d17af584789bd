/**
 * Test support: what makes of a small API server a cluster: Deployments and Jobs become pods, and a kubelet on a node of its own runs them
 * in this process, as units that obey the language of memory-unit.ts. Every pod has an address of its own, 127.x.y.z.
 */
import type { ServerResponse } from 'node:http';
import type { WebSocket } from 'ws';
import { KINDS } from '../../../../kubernetes/kinds.ts';
import type { Deployment, Job, Pod, PodStatus, Secret } from '../../../../kubernetes/objects.ts';
import { ApiServer, type Nodes } from '../../../../kubernetes/testing/api-server.ts';
import type { StoredObject } from '../../../../kubernetes/testing/stored-objects.ts';
import { argvOf } from '../../../../lib/argv-text.ts';
import { MemoryUnit } from '../../memory/memory-unit.ts';

const NODE = 'node-1';
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

interface Line {
  readonly at: string;
  readonly text: string;
}

interface Life {
  readonly lines: Line[];
  isOver: boolean;
}

/** A pod on its node. */
class RunningPod {
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly lives: Life[] = [];
  readonly watchers = new Set<() => void>();
  unit: MemoryUnit | null = null;
  timer: NodeJS.Timeout | null = null;
  isEnding = false;
  /** Its node is lost. */
  isCutOff = false;

  constructor(pod: Pod, address: string) {
    this.name = pod.metadata.name;
    this.namespace = pod.metadata.namespace ?? '';
    this.address = address;
  }

  notice(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}

export class SmallCluster implements Nodes {
  readonly server: ApiServer;
  readonly #pods = new Map<string, RunningPod>();
  #count = 0;
  /** Of addresses: there are other clusters on the machine. */
  #block = 0;
  #lastStamp = 0n;
  #isFull = false;
  readonly #logs = new Set<ServerResponse>();
  #isClosed = false;

  constructor() {
    this.server = new ApiServer({ nodes: this });
    this.server.store.listen(() => queueMicrotask(() => this.#reconcile()));
  }

  /** Ends the program of a pod, as an operator's kill on its node would. */
  async kill(pod: string): Promise<void> {
    await [...this.#pods.values()].find(({ name }) => name === pod)?.unit?.signal('SIGKILL');
  }

  /** The node of a pod is lost with all its programs, which the cluster notes; nobody ends or starts anything there any more. */
  async loseNodeOf(pod: string): Promise<void> {
    const lost = [...this.#pods.values()].find(({ name }) => name === pod);
    if (lost === undefined) throw new Error(`There is no pod ${pod}.`);
    lost.isCutOff = true;
    await lost.unit?.signal('SIGKILL');
    this.server.store.update('pods', lost, undefined, (one) => {
      const { status } = one as Pod;
      return { ...one, status: { ...status, conditions: [{ type: 'Ready', status: 'False' }] } };
    });
  }

  /** No node has room for pods that are not there yet; they begin when one has. */
  set isFull(isFull: boolean) {
    this.#isFull = isFull;
    this.#reconcile();
  }

  /** What the kubelet says of a pod that it has not started. */
  sayOf(pod: Pod, status: PodStatus): void {
    this.server.store.update('pods', pod.metadata, undefined, (one) => ({ ...one, status }));
  }

  /** Ends every log that is followed in the middle of what it says. */
  cutLogs(): void {
    for (const response of this.#logs) response.destroy();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pod of this.#pods.values()) {
      if (pod.timer !== null) clearTimeout(pod.timer);
      await pod.unit?.signal('SIGKILL');
    }
    await this.server.close();
  }

  log(stored: StoredObject, query: URLSearchParams, response: ServerResponse): void {
    const pod = this.#pods.get(keyOf(stored));
    const life = pod?.lives.at(query.get('previous') === 'true' ? -2 : -1);
    if (pod === undefined || life === undefined) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({ kind: 'Status', code: 400, reason: 'BadRequest', message: 'container is waiting to start' }),
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.flushHeaders();
    const since = query.get('sinceTime') ?? '';
    const tail = query.get('tailLines');
    const wanted = life.lines.filter(({ at }) => at.slice(0, 19) >= since.slice(0, 19));
    let sent = life.lines.length;
    for (const line of tail === null ? wanted : wanted.slice(-Number(tail)))
      response.write(`${line.at} ${line.text}\n`);
    if (query.get('follow') !== 'true') return void response.end();
    const more = (): void => {
      for (const line of life.lines.slice(sent)) response.write(`${line.at} ${line.text}\n`);
      sent = life.lines.length;
      if (life.isOver) response.end();
    };
    pod.watchers.add(more);
    this.#logs.add(response);
    response.once('close', () => {
      pod.watchers.delete(more);
      this.#logs.delete(response);
    });
    more();
  }

  /** Only what has a shell is attached to: each line is a command. */
  exec(stored: StoredObject, _command: readonly string[], _query: URLSearchParams, socket: WebSocket): void {
    const pod = this.#pods.get(keyOf(stored));
    if (pod === undefined) return socket.close();
    const life = pod.lives.at(-1);
    let typed = '';
    let sent = 0;
    const say = (stream: number, text: string): void =>
      socket.send(Buffer.concat([Uint8Array.of(stream), Buffer.from(text)]));
    const more = (): void => {
      for (const { text } of life?.lines.slice(sent) ?? []) say(1, `${text}\r\n`);
      sent = life?.lines.length ?? 0;
      if (life?.isOver !== true) return;
      say(3, JSON.stringify({ status: 'Success' }));
      socket.close();
    };
    pod.watchers.add(more);
    socket.once('close', () => pod.watchers.delete(more));
    socket.on('message', (data) => {
      const message = Buffer.from(data as Buffer);
      if (message[0] !== 0) return;
      typed += message.subarray(1).toString();
      for (let end = typed.indexOf('\n'); end >= 0; end = typed.indexOf('\n')) {
        this.#obey(pod, typed.slice(0, end));
        typed = typed.slice(end + 1);
      }
    });
  }

  stats(): object {
    const pods = this.server.store.of(KINDS.pods).map(({ metadata: { name, namespace, uid } }) => ({
      podRef: { name, namespace, uid },
      containers: [{ name: 'app', cpu: { usageCoreNanoSeconds: 1_000_000 }, memory: { workingSetBytes: 1024 } }],
    }));
    return { pods };
  }

  #obey(pod: RunningPod, line: string): void {
    const found = this.#pod(pod);
    if (found === null) return;
    const said = new MemoryUnit({ command: line, limits: NO_LIMITS }, this.#environment(found), (text) =>
      this.#print(pod, text),
    );
    void said.ended.then(({ code }) => {
      if (/\bexit \d+$/.test(line)) void pod.unit?.signal(`EXIT ${code}`);
    });
  }

  #reconcile(): void {
    if (this.#isClosed) return;
    const { store } = this.server;
    for (const deployment of store.of(KINDS.deployments)) this.#scale(deployment);
    for (const job of store.of(KINDS.jobs)) this.#runJob(job);
    for (const pod of store.of(KINDS.pods)) this.#look(pod);
    for (const [key, pod] of this.#pods) if (this.#pod(pod) === null && pod.unit?.exit !== null) this.#pods.delete(key);
  }

  /** What the controllers of Deployments and ReplicaSets do together. */
  #scale({ metadata, spec }: Deployment): void {
    const { store } = this.server;
    const own = store
      .of(KINDS.pods)
      .filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
    const active = own.filter((pod) => pod.metadata.deletionTimestamp === undefined);
    for (let missing = spec.replicas - active.length; missing > 0; missing--) this.#make(metadata, spec.template);
    const cost = (pod: Pod): number =>
      Number(pod.metadata.annotations?.['controller.kubernetes.io/pod-deletion-cost'] ?? 0);
    const rank = (pod: Pod): number =>
      pod.status?.conditions?.some(({ status }) => status === 'True') === true ? 1 : 0;
    const surplus = active
      .sort((one, other) => rank(one) - rank(other) || cost(one) - cost(other))
      .slice(0, Math.max(0, active.length - spec.replicas));
    for (const pod of surplus) store.delete('pods', pod.metadata, { propagation: 'Background' });
  }

  #runJob({ metadata, spec }: Job): void {
    const own = this.server.store
      .of(KINDS.pods)
      .filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
    if (own.length > 0 || spec.suspend === true) return;
    const labels = { ...spec.template.metadata?.labels, 'batch.kubernetes.io/job-name': metadata.name };
    this.#make(metadata, { metadata: { labels }, spec: spec.template.spec });
  }

  #make({ name, namespace = '', uid = '' }: Deployment['metadata'], template: Deployment['spec']['template']): void {
    const number = ++this.#count;
    if (number % 250 === 1) this.#block = 1 + Math.floor(Math.random() * 0xfa00);
    const address = `127.${1 + (this.#block >> 8)}.${this.#block & 255}.${1 + (number % 250)}`;
    const metadata = {
      ...template.metadata,
      ...{ name: `${name}-${number.toString(36).padStart(5, '0')}`, namespace },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true }],
    };
    const pod = { metadata, spec: { ...template.spec, nodeName: NODE }, status: { phase: 'Pending' as const } };
    const made = this.server.store.create('pods', pod) as Pod;
    this.#pods.set(keyOf(made), new RunningPod(made, address));
  }

  /** What the kubelet does. */
  #look(pod: Pod): void {
    const running = this.#pods.get(keyOf(pod));
    if (running === undefined || running.isCutOff) return;
    if (pod.metadata.deletionTimestamp !== undefined) void this.#end(running, pod);
    else if (running.lives.length === 0 && !this.#isFull) this.#start(running, pod);
  }

  #start(running: RunningPod, pod: Pod): void {
    const [container] = pod.spec.containers;
    const life: Life = { lines: [], isOver: false };
    running.lives.push(life);
    const memory = Number(container?.resources?.limits?.['memory'] ?? 0);
    const environment = this.#environment(pod);
    const command = commandOf((container?.command ?? []).map((word) => expanded(word, environment)));
    const unit = new MemoryUnit(
      { command, limits: { ...NO_LIMITS, memoryBytes: memory } },
      environment,
      (text) => this.#print(running, text),
      {
        host: running.address,
        port: Number(environment['PORT'] ?? 0),
      },
    );
    running.unit = unit;
    this.#say(running, {
      phase: 'Running',
      state: { running: { startedAt: new Date().toISOString() } },
      isReady: true,
    });
    void unit.ended.then((exit) => {
      life.isOver = true;
      running.notice();
      if (running.isCutOff) return;
      const isEnd = /^EXIT (\d+)$/.exec(exit.signal ?? '');
      const code = isEnd === null ? (exit.code ?? 128 + signalNumber(exit.signal)) : Number(isEnd[1]);
      const terminated = {
        exitCode: code,
        reason: exit.outOfMemory ? 'OOMKilled' : 'Error',
        finishedAt: new Date().toISOString(),
      };
      const isForGood = pod.spec.restartPolicy === 'Never';
      this.#say(running, {
        phase: isForGood ? (code === 0 ? 'Succeeded' : 'Failed') : 'Running',
        state: { terminated },
        isReady: false,
      });
      if (!isForGood && !running.isEnding && !this.#isClosed) this.#startAgain(running, pod);
    });
  }

  #startAgain(running: RunningPod, pod: Pod): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** running.lives.length, LONGEST_PAUSE_MS);
    running.timer = setTimeout(() => {
      if (!running.isEnding && this.#pod(running) !== null) this.#start(running, pod);
    }, pauseMs);
  }

  async #end(running: RunningPod, pod: Pod): Promise<void> {
    const { unit } = running;
    const isAlive = unit !== null && unit.exit === null;
    if (running.timer !== null) clearTimeout(running.timer);
    if (isAlive) {
      const { deletionTimestamp = '', deletionGracePeriodSeconds = 30 } = pod.metadata;
      const endsAt = Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000;
      running.timer = setTimeout(() => void unit.signal('SIGKILL'), Math.max(0, endsAt - Date.now()));
    }
    // Asked again, it has less time.
    if (running.isEnding) return;
    running.isEnding = true;
    if (isAlive) {
      await unit.signal('SIGTERM');
      await unit.ended;
      clearTimeout(running.timer ?? undefined);
    }
    setImmediate(() => {
      if (this.#pod(running) !== null)
        this.server.store.delete('pods', pod.metadata, { propagation: 'Background', graceSeconds: 0 });
    });
  }

  #say(running: RunningPod, now: { phase: NonNullable<PodStatus['phase']>; state: object; isReady: boolean }): void {
    const before = this.#pod(running);
    if (before === null) return;
    const lastState = before.status?.containerStatuses?.[0]?.state;
    const status: PodStatus = {
      phase: now.phase,
      podIP: running.address,
      conditions: [{ type: 'Ready', status: now.isReady ? 'True' : 'False' }],
      containerStatuses: [
        {
          name: 'app',
          ready: now.isReady,
          restartCount: running.lives.length - 1,
          state: now.state,
          ...(lastState?.terminated !== undefined && { lastState }),
        },
      ],
    };
    this.server.store.update('pods', before.metadata, undefined, (pod) => ({ ...pod, status }));
  }

  #print(running: RunningPod, text: string): void {
    const now = BigInt(Date.now()) * 1_000_000n;
    this.#lastStamp = now > this.#lastStamp ? now : this.#lastStamp + 1n;
    const at = `${new Date(Number(this.#lastStamp / 1_000_000n)).toISOString().slice(0, 19)}.${String(this.#lastStamp % 1_000_000_000n).padStart(9, '0')}Z`;
    running.lives.at(-1)?.lines.push({ at, text });
    running.notice();
  }

  #environment({ metadata, spec }: Pod): Record<string, string> {
    const [container] = spec.containers;
    const env: Record<string, string> = {};
    for (const { secretRef } of container?.envFrom ?? []) {
      const secret = this.server.store.find('secrets', {
        name: secretRef.name,
        namespace: metadata.namespace ?? '',
      }) as Secret | null;
      for (const [name, value] of Object.entries(secret?.data ?? {}))
        env[name] = Buffer.from(value, 'base64').toString();
    }
    for (const { name, value, valueFrom } of container?.env ?? []) {
      env[name] = valueFrom === undefined ? expanded(value ?? '', env) : metadata.name;
    }
    return env;
  }

  #pod({ name, namespace }: RunningPod): Pod | null {
    return this.server.store.find('pods', { name, namespace }) as Pod | null;
  }
}

const NO_LIMITS = { memoryBytes: 0, cpuMillis: 0, processes: 0 };

function keyOf({ metadata: { namespace = '', name } }: Pick<StoredObject, 'metadata'>): string {
  return `${namespace}/${name}`;
}

/** Units are given as words, or in a shell where they were built; one-off commands come after a line of it, and a shell alone waits for what is typed. */
function commandOf(argv: readonly string[]): string {
  if (argv[0] === '/bin/sh') {
    const [first = '', ...more] = (argv.at(-1) ?? '').split('\n');
    return argv.length === 1 ? 'stay' : more.length === 0 ? first.replace(/^exec /, '') : more.join('; ');
  }
  return argv.length === 1 ? (argvOf(argv[0] ?? '') ?? []).join(' ') : argv.join(' ');
}

/** As the kubelet does it with words of commands and values of variables. */
function expanded(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$(?:\$|\(([A-Za-z_]\w*)\))/g, (all, name?: string) =>
    name === undefined ? '$' : (env[name] ?? all),
  );
}

function signalNumber(name: string | null): number {
  return { SIGTERM: 15, SIGKILL: 9, SIGINT: 2 }[name ?? ''] ?? 9;
}
