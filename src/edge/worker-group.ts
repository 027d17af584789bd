import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import type { AppTraffic, RouteTable } from '../domain/routes/router.ts';
import type { EdgeRequest } from './control/operations.ts';
import type { Journal } from './journal.ts';
import type { Serving } from './serving.ts';
import type { FromWorker, ToWorker } from './worker.ts';
import { WORKER_MARK } from './worker.ts';

const FIRST_RESTART_MS = 100;
const LAST_RESTART_MS = 10_000;
/** A worker that lived this long does not count as failing at start. */
const STEADY_MS = 60_000;
const STOP_SLACK_MS = 2_000;

type Ask = (reply: FromWorker) => void;

/** Several processes that share one listener, each with a data plane of its own; lost ones are replaced. */
export class WorkerGroup implements Serving {
  readonly #count: number;
  readonly #journal: Journal;
  readonly #asked = new Map<number, { worker: Worker; settle: Ask }>();
  readonly #ready = new Set<Worker>();
  #nextId = 1;
  #table: RouteTable = { version: 0, routes: [] };
  #host = '';
  /** What workers ask for: those that ask for the same, be it port 0, get the same listener. */
  #port = 0;
  #bound = 0;
  #stopping = false;
  #restartMs = FIRST_RESTART_MS;

  constructor(count: number, journal: Journal) {
    this.#count = count;
    this.#journal = journal;
    cluster.schedulingPolicy = cluster.SCHED_NONE;
  }

  async listen(host: string, port: number): Promise<number> {
    this.#host = host;
    this.#port = port;
    for (let index = 0; index < this.#count; index++) await this.#fork();
    return this.#bound;
  }

  async apply(table: RouteTable): Promise<void> {
    if (table.version <= this.#table.version) return;
    this.#table = table;
    await this.#askAll({ op: 'apply', table });
  }

  async drained(units: readonly string[], timeoutMs: number): Promise<number> {
    const open = await this.#askAll({ op: 'drained', units, timeoutMs });
    return open.reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0);
  }

  async traffic(app: string): Promise<AppTraffic> {
    const parts = (await this.#askAll({ op: 'traffic', app })) as (AppTraffic | null)[];
    return {
      requests: parts.reduce((sum, part) => sum + (part?.requests ?? 0), 0),
      failures: parts.reduce((sum, part) => sum + (part?.failures ?? 0), 0),
    };
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    for (const worker of workers) send(worker, { id: 0, stopMs: graceMs });
    const timer = setTimeout(
      () => workers.forEach((worker) => worker.process.kill('SIGKILL')),
      graceMs + STOP_SLACK_MS,
    );
    await Promise.all(ended);
    clearTimeout(timer);
  }

  /** Resolves once the worker listens and has the table; rejects when it cannot listen. */
  async #fork(): Promise<void> {
    const born = performance.now();
    const worker = cluster.fork({ [WORKER_MARK]: '1' });
    worker.on('message', (message: FromWorker) => {
      const asked = this.#asked.get(message.id);
      this.#asked.delete(message.id);
      asked?.settle(message);
    });
    // A message to a worker that has just died; its 'exit' settles everything.
    worker.on('error', () => {});
    // Its loader reads the channel before its program does: what is sent before the first sign of life would be lost.
    const awake = new Promise<void>((resolve) => {
      worker.once('message', () => resolve());
      worker.once('exit', () => resolve());
    });
    worker.once('exit', () => this.#lost(worker, performance.now() - born));
    await awake;
    // Before it listens, so that it never answers by an empty table; and after, for a table that came meanwhile.
    await this.#ask(worker, { request: { op: 'apply', table: this.#table } });
    // With the last worker went the listener; a new one must not choose a port of its own.
    if (this.#ready.size === 0 && this.#bound !== 0) this.#port = this.#bound;
    const reply = await this.#ask(worker, { listen: { host: this.#host, port: this.#port } });
    if (reply.error !== undefined || typeof reply.result !== 'number') {
      worker.process.kill('SIGKILL');
      throw Object.assign(new Error(reply.error ?? 'a worker died at start'), { code: reply.code });
    }
    this.#bound = reply.result;
    this.#ready.add(worker);
    await this.#ask(worker, { request: { op: 'apply', table: this.#table } });
  }

  #lost(worker: Worker, livedMs: number): void {
    for (const [id, asked] of this.#asked) {
      if (asked.worker !== worker) continue;
      this.#asked.delete(id);
      asked.settle({ id });
    }
    const served = this.#ready.delete(worker);
    if (this.#stopping || !served) return;
    this.#restartMs = livedMs > STEADY_MS ? FIRST_RESTART_MS : Math.min(this.#restartMs * 2, LAST_RESTART_MS);
    this.#journal.line(`worker ${worker.process.pid ?? 0} is gone, another one starts`);
    this.#replace();
  }

  #replace(): void {
    setTimeout(() => {
      if (this.#stopping) return;
      this.#fork().catch((error: unknown) => {
        this.#journal.line(`a worker could not start: ${String(error)}`);
        this.#restartMs = Math.min(this.#restartMs * 2, LAST_RESTART_MS);
        this.#replace();
      });
    }, this.#restartMs);
  }

  async #askAll(request: EdgeRequest): Promise<unknown[]> {
    const replies = await Promise.all([...this.#ready].map((worker) => this.#ask(worker, { request })));
    for (const reply of replies) if (reply.error !== undefined) throw new Error(reply.error);
    return replies.map((reply) => reply.result ?? null);
  }

  /** A worker that dies meanwhile answers with neither result nor error. */
  #ask(worker: Worker, message: Omit<ToWorker, 'id'>): Promise<FromWorker> {
    return new Promise((resolve) => {
      const id = this.#nextId++;
      if (!worker.isConnected()) {
        resolve({ id });
        return;
      }
      this.#asked.set(id, { worker, settle: resolve });
      send(worker, { id, ...message });
    });
  }
}

function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
