import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppTraffic, RouteTable } from '../domain/routes/router.ts';
import { hostPort } from '../lib/host-port.ts';
import { ControlServer } from './control/control-server.ts';
import type { EdgeRequest } from './control/operations.ts';
import { TableFile } from './control/table-file.ts';
import type { Journal } from './journal.ts';
import type { ProcessRequest } from './link.ts';
import { KeeperStarter } from './keeper-starter.ts';
import { LISTENER_FD } from './listener.ts';
import type { EdgeOptions } from './options.ts';
import type { Predecessor } from './predecessor.ts';
import type { Serving } from './serving.ts';
import { startSuccessor } from './successor.ts';

/** What `apply` answers. `persisted` is false when the table is in force but could not be written to disk. */
export interface Applied {
  readonly version: number;
  readonly persisted: boolean;
}

export interface EdgeParts {
  readonly serving: Serving;
  /** Null for an edge that takes over from nobody. */
  readonly predecessor: Predecessor | null;
  readonly journal: Journal;
}

/** The edge as a whole: what serves, the table on disk, and the socket and pid file by which control finds it. */
export class Edge {
  /** Resolves when another edge has taken over and nothing that was begun here is left. */
  readonly retired: Promise<void>;
  readonly #options: EdgeOptions;
  readonly #serving: Serving;
  readonly #predecessor: Predecessor | null;
  readonly #journal: Journal;
  readonly #file: TableFile;
  readonly #control: ControlServer;
  readonly #keeper: KeeperStarter | null;
  readonly #pidPath: string;
  #bound = '';
  #table: RouteTable = { version: 0, routes: [] };
  #persisted = true;
  #applying: Promise<unknown> = Promise.resolve();
  /** Others find this process by its pid file. */
  #announced: Promise<void> = Promise.resolve();
  #isRetired = false;
  #resolveRetired: () => void = () => {};

  constructor(options: EdgeOptions, { serving, predecessor, journal }: EdgeParts) {
    this.#options = options;
    this.#serving = serving;
    this.#predecessor = predecessor;
    this.#journal = journal;
    this.#file = new TableFile(options.stateDir);
    const { keeper } = options;
    this.#keeper =
      keeper === null ? null : new KeeperStarter([keeper.entry, keeper.argument, ...process.argv.slice(1)], journal);
    this.#control = new ControlServer(
      (request) => this.#answer(request),
      (isAnybody) => this.#keeper?.connected(isAnybody),
    );
    this.#pidPath = join(options.runDir, 'edge.pid');
    this.retired = new Promise((resolve) => {
      this.#resolveRetired = resolve;
    });
  }

  /** Serves by the last good table before anything else; the edge before it serves, too, until then. */
  async start(): Promise<string> {
    await this.#load();
    const port = await this.#serving.listen({ fd: LISTENER_FD });
    this.#bound = hostPort({ host: this.#options.host, port });
    await this.#predecessor?.retire();
    const reachable = this.#control.listen(join(this.#options.runDir, 'edge.sock'));
    this.#announced = reachable.then(() => writeFile(this.#pidPath, `${process.pid}\n`, { mode: 0o600 }));
    await this.#announced;
    this.#keeper?.connected(false);
    this.#journal.line(`serving on ${this.#bound}, table ${this.#table.version}`);
    return this.#bound;
  }

  async stop(): Promise<void> {
    const { stopGraceMs } = this.#options;
    this.#keeper?.close();
    // First what others find us by, so that a successor may take both.
    await this.#control.close();
    // Once retired, both are the successor's, which may be writing the file just now.
    if (!this.#isRetired) await this.#removePidFile();
    await Promise.all([this.#serving.stop(stopGraceMs), this.#predecessor?.stop(stopGraceMs)]);
    this.#journal.line('stopped');
  }

  async #removePidFile(): Promise<void> {
    const pid = await readFile(this.#pidPath, 'utf8').catch(() => '');
    if (pid.trim() === String(process.pid)) await rm(this.#pidPath, { force: true });
  }

  async #load(): Promise<void> {
    try {
      const table = await this.#file.load();
      if (table === null) return;
      await this.#serving.apply(table);
      this.#table = table;
    } catch (error) {
      this.#journal.line(`the table on disk cannot be used, waiting for a new one: ${String(error)}`);
    }
  }

  async #answer(request: EdgeRequest): Promise<unknown> {
    switch (request.op) {
      case 'hello': {
        await this.#announced;
        const { host, port, fingerprint } = this.#options;
        return { pid: process.pid, fingerprint, host, port, bound: this.#bound, version: this.#table.version };
      }
      case 'table':
        return this.#table;
      case 'apply': {
        const applied = this.#applying.then(() => this.#apply(request.table));
        this.#applying = applied.catch(() => {});
        return applied;
      }
      case 'succeed':
        return this.#startSuccessor(request.program);
      case 'drained':
        return this.#drained(request.units, request.timeoutMs);
      case 'traffic':
        return this.#traffic(request.app);
    }
  }

  async #startSuccessor(program: Parameters<typeof startSuccessor>[0]): Promise<{ pid: number }> {
    const successor = await startSuccessor(program, (request) => this.#answerSuccessor(request));
    void successor.ended.then(() => {
      // It has not taken over, and everything is as it was; or it has, and this edge hears of no new table any more.
      if (this.#isRetired) this.#resolveRetired();
      else this.#journal.line('the edge that was to take over has ended');
    });
    return { pid: successor.pid };
  }

  async #answerSuccessor(request: ProcessRequest): Promise<unknown> {
    switch (request.op) {
      case 'retire':
        return this.#retire();
      case 'apply':
        return Promise.all([this.#serving.apply(request.table), this.#predecessor?.apply(request.table)]);
      case 'drained':
        return this.#drained(request.units, request.timeoutMs);
      case 'traffic':
        return this.#traffic(request.app);
      case 'stop':
        this.#resolveRetired();
        return this.#serving.stop(request.graceMs);
      default:
        throw new Error('not for an edge that is retired');
    }
  }

  /** Leaves the control socket to the successor, and the listener; resolves then. What is begun is finished here. */
  async #retire(): Promise<void> {
    this.#isRetired = true;
    this.#keeper?.close();
    await this.#control.close();
    this.#journal.line('another edge has taken over');
    void Promise.all([this.#serving.drain(this.#options.handoverMs), this.#predecessor?.ended]).then(() =>
      this.#resolveRetired(),
    );
  }

  async #drained(units: readonly string[], timeoutMs: number): Promise<number> {
    const [own, before = 0] = await Promise.all([
      this.#serving.drained(units, timeoutMs),
      this.#predecessor?.drained(units, timeoutMs),
    ]);
    return own + before;
  }

  async #traffic(app: string): Promise<AppTraffic> {
    const [own, before] = await Promise.all([this.#serving.traffic(app), this.#predecessor?.traffic(app)]);
    return {
      requests: own.requests + (before?.requests ?? 0),
      failures: own.failures + (before?.failures ?? 0),
    };
  }

  /** In force first, on disk second: serving rightly matters more than remembering. */
  async #apply(table: RouteTable): Promise<Applied> {
    if (table.version < this.#table.version) return { version: this.#table.version, persisted: this.#persisted };
    if (table.version > this.#table.version) {
      await Promise.all([this.#serving.apply(table), this.#predecessor?.apply(table)]);
      this.#table = table;
      this.#persisted = false;
    }
    if (!this.#persisted) {
      try {
        await this.#file.save(table);
        this.#persisted = true;
      } catch (error) {
        this.#journal.line(`table ${table.version} is in force but could not be kept: ${String(error)}`);
      }
    }
    return { version: this.#table.version, persisted: this.#persisted };
  }
}
