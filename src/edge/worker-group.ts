import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import type { AccessEntry, AppTraffic, CertificatesInForce, RouteTable } from '../domain/routes/router.ts';
import type { TableChange } from '../domain/routes/table-change.ts';
import { Heartbeats } from '../lib/heartbeats.ts';
import { withChange } from './control/table-change.ts';
import type { EdgeLog } from './edge-log.ts';
import { Link, type ProcessRequest } from './link.ts';
import { listenerDescriptors } from './listener.ts';
import { lastLiveCounts, liveCounts, openLiveCounts } from './live-counts.ts';
import type { EdgeOptions } from './options.ts';
import type { CountedApps } from '../domain/routes/counted-apps.ts';
import type { Ports, Serving } from './serving.ts';
import { LiveCertificates, type Presented } from './tls/live-certificates.ts';
import type { WorkerNews } from './worker.ts';
import { WORKER_MARK } from './worker.ts';
import { NO_TRAFFIC, sum, sumOfAll, WorkerCounts } from './worker-counts.ts';

const FIRST_RESTART_MS = 100;
const LAST_RESTART_MS = 10_000;
/** A worker that lived this long does not count as failing at start. */
const STEADY_MS = 60_000;
const STOP_SLACK_MS = 2_000;

interface Worker {
  readonly process: ChildProcess;
  readonly link: Link;
  /** Descriptor of its live counts (live-counts.ts). */
  readonly countsFd: number;
  /** The worker accepts connections, and is replaced when it dies. */
  isServing: boolean;
}

/** Several processes that accept from one listener, each with a data plane of its own; lost ones are replaced. */
export class WorkerGroup implements Serving {
  readonly #count: number;
  readonly #hasTls: boolean;
  readonly #runDir: string;
  readonly #log: EdgeLog;
  readonly #all = new Set<Worker>();
  /** Those that answer; from before they accept, so that no request goes by another table than the one that is said to be in force. */
  readonly #awake = new Set<Worker>();
  /** Those whose counters are their own yet. */
  readonly #counting = new Set<Worker>();
  readonly #counts = new WorkerCounts<Worker>();
  readonly #heartbeats = new Heartbeats({ onStuck: (pid) => this.#endStuck(pid) });
  #table: RouteTable = { version: 0, routes: [] };
  #presented: Presented | null = null;
  #certificates = LiveCertificates.none;
  #ports: Ports = { port: 0, tlsPort: 0 };
  #isLeaving = false;
  #isEnding = false;
  #restartMs = FIRST_RESTART_MS;

  constructor({ workers, tls, runDir }: Pick<EdgeOptions, 'workers' | 'tls' | 'runDir'>, log: EdgeLog) {
    this.#runDir = runDir;
    this.#count = workers;
    this.#hasTls = tls !== null;
    this.#log = log;
  }

  async listen(): Promise<Ports> {
    for (let index = 0; index < this.#count; index++) await this.#fork();
    return this.#ports;
  }

  async apply(table: RouteTable): Promise<void> {
    if (table.version <= this.#table.version) return;
    this.#table = table;
    await this.#askAll({ op: 'apply', table });
  }

  async change(change: TableChange): Promise<boolean> {
    const table = withChange(this.#table, change);
    if (table === null) return false;
    this.#table = table;
    await Promise.all([...this.#awake].map((worker) => this.#changeOne(worker, change, table)));
    return true;
  }

  async #changeOne({ link }: Worker, change: TableChange, table: RouteTable): Promise<void> {
    if ((await link.ask({ op: 'change', change })) === false) await link.ask({ op: 'apply', table });
  }

  async present(presented: Presented): Promise<CertificatesInForce> {
    this.#presented = presented;
    await this.#askAll({ op: 'present', presented });
    // What can be presented is the same in all of them, and known when there is none.
    this.#certificates = await LiveCertificates.of(presented.set, this.#certificates);
    return this.#certificates.state;
  }

  async drained(units: readonly string[], timeoutMs: number): Promise<number> {
    const open = await this.#askAll({ op: 'drained', units, timeoutMs });
    return open.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
  }

  async traffic(app: string): Promise<AppTraffic> {
    const asked = [...this.#counting].map(async (worker) => ({
      worker,
      answer: (await worker.link.ask({ op: 'traffic', app })) as AppTraffic | undefined,
    }));
    let total = NO_TRAFFIC;
    for (const { worker, answer } of await Promise.all(asked)) {
      // One that has gone meanwhile is counted with those that are gone.
      if (this.#counting.has(worker))
        total = sum(total, answer ?? this.#counts.asGone(worker, app, liveCounts(worker.countsFd)));
    }
    return sum(total, this.#counts.ofTheGone(app));
  }

  async allTraffic(): Promise<CountedApps> {
    const asked = [...this.#counting].map(async (worker) => ({
      worker,
      answer: (await worker.link.ask({ op: 'all-traffic' })) as CountedApps | undefined,
    }));
    const answers = (await Promise.all(asked)).filter(({ worker }) => this.#counting.has(worker));
    const counted = answers.map(
      ({ worker, answer }) => answer ?? this.#counts.allAsGone(worker, liveCounts(worker.countsFd)),
    );
    return sumOfAll([...counted, this.#counts.allOfTheGone]);
  }

  /** Those of a worker that dies are lost with it. */
  async takeAccessLog(): Promise<readonly AccessEntry[]> {
    const answers = await this.#askAll({ op: 'access-log' });
    const all = answers.flatMap((entries) => (Array.isArray(entries) ? (entries as AccessEntry[]) : []));
    return all.sort((one, other) => one.atMs - other.atMs);
  }

  async leave(): Promise<void> {
    this.#isLeaving = true;
    await this.#askAll({ op: 'leave' });
  }

  async drain(boundMs: number): Promise<void> {
    this.#end();
    await Promise.all([...this.#all].map(({ link }) => link.ask({ op: 'drain', boundMs })));
  }

  async stop(graceMs: number): Promise<void> {
    this.#end();
    await Promise.all([...this.#all].map((worker) => this.#endWorker(worker, graceMs)));
  }

  /** From now on nobody is replaced, and nobody holds the listener but for those that still accept. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    for (const fd of listenerDescriptors(this.#hasTls)) closeSync(fd);
  }

  async #endWorker({ process: child, link }: Worker, graceMs: number): Promise<void> {
    const ended = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs + STOP_SLACK_MS);
    await link.ask({ op: 'stop', graceMs });
    await ended;
    clearTimeout(timer);
  }

  /** Resolves once the worker accepts and has the table; rejects when it cannot. */
  async #fork(): Promise<void> {
    const born = performance.now();
    const countsFd = openLiveCounts(this.#runDir);
    let child: ChildProcess;
    try {
      child = fork(process.argv[1] ?? '', process.argv.slice(2), {
        env: { ...process.env, [WORKER_MARK]: '1' },
        stdio: ['ignore', 'inherit', 'inherit', ...listenerDescriptors(this.#hasTls), countsFd, 'ipc'],
      });
    } catch (error) {
      closeSync(countsFd);
      throw error;
    }
    const worker: Worker = { process: child, link: new Link(child), countsFd, isServing: false };
    this.#all.add(worker);
    // A message to a worker that has just died, whose 'exit' settles everything; or there is no process, and no 'exit'.
    child.on('error', () => child.pid === undefined && this.#all.delete(worker));
    child.once('exit', () => this.#lost(worker, performance.now() - born));
    this.#listenTo(worker);
    await worker.link.awake;
    if (this.#all.has(worker)) this.#awake.add(worker);
    await this.#inform(worker);
    const ports = this.#isEnding ? null : await worker.link.ask({ op: 'listen' }).catch((error: unknown) => error);
    if (ports instanceof Error || typeof ports !== 'object' || ports === null) {
      child.kill('SIGKILL');
      // One that could not even be started has no end that would be reported.
      this.#all.delete(worker);
      this.#awake.delete(worker);
      throw ports instanceof Error ? ports : new Error('a worker died at start');
    }
    this.#ports = ports as Ports;
    worker.isServing = true;
  }

  async #inform({ link }: Worker): Promise<void> {
    await link.ask({ op: 'apply', table: this.#table });
    if (this.#presented !== null) await link.ask({ op: 'present', presented: this.#presented });
    if (this.#isLeaving) await link.ask({ op: 'leave' });
  }

  #listenTo(worker: Worker): void {
    const { process: child, link, countsFd } = worker;
    this.#counting.add(worker);
    child.on('message', (news: Partial<Extract<WorkerNews, { counts: unknown }>>) => {
      // Whatever it says is a sign of life.
      if (this.#awake.has(worker)) this.#heartbeats.beat(child.pid ?? 0);
      if (news.counts !== undefined) this.#counts.update(worker, news.counts);
    });
    // Everything that it said has been read.
    void link.ended.then(() => {
      this.#counting.delete(worker);
      this.#counts.gone(worker, lastLiveCounts(countsFd));
    });
  }

  /** A worker that does not confirm tables: every change of the routes would wait for it. */
  #endStuck(pid: number): void {
    this.#log.line(`worker ${pid} does not answer any more and is ended`);
    for (const { process: child } of this.#all) if (child.pid === pid) child.kill('SIGKILL');
  }

  #lost(worker: Worker, livedMs: number): void {
    this.#heartbeats.forget(worker.process.pid ?? 0);
    this.#all.delete(worker);
    this.#awake.delete(worker);
    if (this.#isEnding || !worker.isServing) return;
    this.#restartMs = livedMs > STEADY_MS ? FIRST_RESTART_MS : Math.min(this.#restartMs * 2, LAST_RESTART_MS);
    this.#log.line(`worker ${worker.process.pid ?? 0} is gone, another one starts`);
    this.#replace();
  }

  #replace(): void {
    setTimeout(() => {
      if (this.#isEnding) return;
      this.#fork().catch((error: unknown) => {
        if (this.#isEnding) return;
        this.#log.line(`a worker could not start: ${String(error)}`);
        this.#restartMs = Math.min(this.#restartMs * 2, LAST_RESTART_MS);
        this.#replace();
      });
    }, this.#restartMs);
  }

  /** A worker that dies meanwhile answers undefined. */
  #askAll(request: ProcessRequest): Promise<unknown[]> {
    return Promise.all([...this.#awake].map(({ link }) => link.ask(request)));
  }
}
