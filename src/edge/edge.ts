import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RouteTable } from '../domain/routes/router.ts';
import { hostPort } from '../lib/host-port.ts';
import { ControlServer } from './control/control-server.ts';
import type { EdgeRequest } from './control/operations.ts';
import { perform } from './control/operations.ts';
import { TableFile } from './control/table-file.ts';
import type { Journal } from './journal.ts';
import type { EdgeOptions } from './options.ts';
import type { Serving } from './serving.ts';

const RETRY_MS = 5;
const TAKE_OVER_MS = 10_000;

/** What `apply` answers. `persisted` is false when the table is in force but could not be written to disk. */
export interface Applied {
  readonly version: number;
  readonly persisted: boolean;
}

/** The edge as a whole: what serves, the table on disk, and the socket and pid file by which control finds it. */
export class Edge {
  readonly #options: EdgeOptions;
  readonly #serving: Serving;
  readonly #journal: Journal;
  readonly #file: TableFile;
  readonly #control: ControlServer;
  readonly #pidPath: string;
  #bound = '';
  #table: RouteTable = { version: 0, routes: [] };
  #persisted = true;
  #applying: Promise<unknown> = Promise.resolve();
  /** Others find this process by its pid file. */
  #announced: Promise<void> = Promise.resolve();

  constructor(options: EdgeOptions, serving: Serving, journal: Journal) {
    this.#options = options;
    this.#serving = serving;
    this.#journal = journal;
    this.#file = new TableFile(options.stateDir);
    this.#control = new ControlServer((request) => this.#answer(request));
    this.#pidPath = join(options.runDir, 'edge.pid');
  }

  /** Serves by the last good table before anything else; rejects when the address cannot be had. */
  async start(): Promise<string> {
    await this.#load();
    const { host } = this.#options;
    this.#endPredecessor();
    const port = await this.#patiently(() => this.#serving.listen(host, this.#options.port));
    this.#bound = hostPort({ host, port });
    const reachable = this.#patiently(() => this.#control.listen(join(this.#options.runDir, 'edge.sock')));
    this.#announced = reachable.then(() => writeFile(this.#pidPath, `${process.pid}\n`, { mode: 0o600 }));
    await this.#announced;
    this.#journal.line(`serving on ${this.#bound}, table ${this.#table.version}`);
    return this.#bound;
  }

  async stop(): Promise<void> {
    // First what others find us by, so that a successor may take both.
    await this.#control.close();
    const pid = await readFile(this.#pidPath, 'utf8').catch(() => '');
    if (pid.trim() === String(process.pid)) await rm(this.#pidPath, { force: true });
    await this.#serving.stop(this.#options.stopGraceMs);
    this.#journal.line('stopped');
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

  /** Tries a busy address again only while the edge it takes over from lets go of it. */
  async #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + (this.#options.replaces > 0 ? TAKE_OVER_MS : 0);
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > deadline) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #endPredecessor(): void {
    if (this.#options.replaces === 0) return;
    try {
      process.kill(this.#options.replaces, 'SIGTERM');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  async #answer(request: EdgeRequest): Promise<unknown> {
    if (request.op === 'hello') {
      await this.#announced;
      const { host, port, fingerprint } = this.#options;
      return { pid: process.pid, fingerprint, host, port, bound: this.#bound, version: this.#table.version };
    }
    if (request.op === 'table') return this.#table;
    if (request.op !== 'apply') return perform(this.#serving, request);
    const applied = this.#applying.then(() => this.#apply(request.table));
    this.#applying = applied.catch(() => {});
    return applied;
  }

  /** In force first, on disk second: serving rightly matters more than remembering. */
  async #apply(table: RouteTable): Promise<Applied> {
    if (table.version < this.#table.version) return { version: this.#table.version, persisted: this.#persisted };
    if (table.version > this.#table.version) {
      await this.#serving.apply(table);
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
