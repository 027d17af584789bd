import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  AccessEntry,
  AppTraffic,
  CertificateSet,
  CertificatesInForce,
  RouteTable,
} from '../domain/routes/router.ts';
import type { TableChange } from '../domain/routes/table-change.ts';
import { hostPort } from '../lib/host-port.ts';
import { ControlServer } from './control/control-server.ts';
import type { EdgeRequest, HandedListeners, SuccessorProgram } from './control/operations.ts';
import { checkCertificates } from './control/check-certificates.ts';
import { checkTable } from './control/check-table.ts';
import { KeptState, NO_STORAGE, type StateStorage } from './control/kept-state.ts';
import { StateFile } from './control/state-file.ts';
import { withChange } from './control/table-change.ts';
import type { EdgeLog } from './edge-log.ts';
import type { ProcessRequest } from './link.ts';
import { listeners } from './listener.ts';
import type { EdgeOptions } from './options.ts';
import type { InForce, Predecessor } from './predecessor.ts';
import type { CountedApps } from '../domain/routes/counted-apps.ts';
import type { Serving } from './serving.ts';
import { startSuccessor } from './successor.ts';
import { NO_CERTIFICATES, type Presented } from './tls/live-certificates.ts';
import { TicketKeys } from './tls/ticket-keys.ts';
import { sum, sumOfAll } from './worker-counts.ts';

const TICKET_LOOK_MS = 3_600_000;
/** For the last lines of the access log of an edge that has nothing else left. */
const LAST_LINES_MS = 3_000;

interface EdgeParts {
  readonly serving: Serving;
  /** Null for an edge that takes over from nobody. */
  readonly predecessor: Predecessor | null;
  readonly log: EdgeLog;
  /** Of servers elsewhere; the edge that takes over follows them in its turn. */
  readonly following: { pause(): Promise<void>; resume(): void };
}

/** By which what is served changes. */
const CHANGES: ReadonlySet<string> = new Set(['apply', 'change', 'apply-certificates']);

/** The edge as a whole: what serves, the table on disk, and the socket and pid file by which control finds it. */
export class Edge {
  /** Resolves when a table has been handed over. */
  readonly hasTable: Promise<void>;
  /** Resolves when another edge has taken over and nothing that was begun here is left. */
  readonly retired: Promise<void>;
  readonly #options: EdgeOptions;
  readonly #serving: Serving;
  readonly #predecessor: Predecessor | null;
  readonly #log: EdgeLog;
  readonly #following: EdgeParts['following'];
  readonly #table: KeptState<RouteTable>;
  readonly #certificates: KeptState<CertificateSet>;
  readonly #tickets: TicketKeys;
  readonly #control: ControlServer;
  readonly #pidPath: string;
  #bound = '';
  #tlsBound: string | null = null;
  #presented: CertificatesInForce = { version: 0, ids: [], unusable: [] };
  #ticketTimer: NodeJS.Timeout | null = null;
  /** Others find this process by its pid file. */
  #announced: Promise<void> = Promise.resolve();
  #isHanded = false;
  /** It takes no connection any more, and has nothing to hand on. */
  #isClosed = false;
  #isRetired = false;
  #resolveRetired: () => void = () => {};
  #resolveHasTable: () => void = () => {};
  #linesTaken: () => void = () => {};

  constructor(options: EdgeOptions, { serving, predecessor, log, following }: EdgeParts) {
    this.#options = options;
    this.#serving = serving;
    this.#predecessor = predecessor;
    this.#log = log;
    this.#following = following;
    const { stateDir } = options;
    const tableFile = new StateFile(stateDir, 'table.json', checkTable);
    // Other machines have no private keys on their disks.
    const setFile: StateStorage<CertificateSet> =
      options.follow === null ? new StateFile(stateDir, 'certificates.json', checkCertificates) : NO_STORAGE;
    this.#table = new KeptState('table', { file: tableFile, initial: { version: 0, routes: [] }, log });
    this.#certificates = new KeptState('certificates', { file: setFile, initial: NO_CERTIFICATES, log });
    this.#tickets = new TicketKeys(stateDir, log);
    this.#control = new ControlServer((request) => this.answer(request));
    this.#pidPath = join(options.runDir, 'edge.pid');
    this.retired = new Promise((resolve) => {
      this.#resolveRetired = resolve;
    });
    this.hasTable = new Promise((resolve) => {
      this.#resolveHasTable = resolve;
    });
  }

  /** Serves by the last good table before anything else, once `before` has resolved; the edge before it serves, too, until then. */
  async start(before: () => Promise<void> = () => Promise.resolve()): Promise<string> {
    const { host, tls } = this.#options;
    if (tls !== null) await this.#tickets.load();
    await this.#table.load((table) => this.#serving.apply(table));
    await this.#certificates.load((set) => this.#presentHere(set));
    if (this.#options.follow !== null) await this.#takeInForce();
    await before();
    const { port, tlsPort } = await this.#serving.listen(listeners(tls !== null));
    this.#bound = hostPort({ host, port });
    if (tls !== null) this.#beginTls(tls.host, tlsPort);
    await this.#predecessor?.retire();
    const reachable = this.#control.listen(join(this.#options.runDir, 'edge.sock'));
    this.#announced = reachable.then(() => writeFile(this.#pidPath, `${process.pid}\n`, { mode: 0o600 }));
    await this.#announced;
    this.#log.line(`serving on ${this.#bound}, table ${this.#table.value.version}`);
    return this.#bound;
  }

  /** Of what the edge before this one serves by the disk may have less, and of private keys it has none. */
  async #takeInForce(): Promise<void> {
    const inForce = await this.#predecessor?.hand();
    if (inForce === undefined || inForce === null) return;
    await this.#certificates.apply(inForce.certificates, (set) => this.#presentHere(set));
    await this.#table.apply(inForce.table, (table) => this.#serving.apply(table));
  }

  #beginTls(host: string, port: number): void {
    this.#tlsBound = hostPort({ host, port });
    this.#ticketTimer = setInterval(() => void this.#renewTickets(), TICKET_LOOK_MS);
    this.#ticketTimer.unref();
  }

  async #renewTickets(): Promise<void> {
    if (await this.#tickets.renewed()) await this.#present(this.#certificates.value);
  }

  async stop(): Promise<void> {
    if (this.#ticketTimer !== null) clearInterval(this.#ticketTimer);
    const { stopGraceMs } = this.#options;
    // First what others find us by, so that a successor may take both.
    await this.#control.close();
    // Once retired, both are the successor's, which may be writing the file just now.
    if (!this.#isRetired) await this.#removePidFile();
    await Promise.all([this.#serving.stop(stopGraceMs), this.#predecessor?.stop(stopGraceMs)]);
    this.#log.line('stopped');
  }

  /**
   * Those that are open are closed with their next answer. In the first half of the time new ones are taken, so that balancers see in peace
   * what the health check says; in the second none, and whoever came last is still answered.
   */
  async leave(timeoutMs: number): Promise<void> {
    await this.#serving.leave();
    await delay(timeoutMs / 2);
    this.#isClosed = true;
    await this.#serving.drain(timeoutMs / 2);
  }

  async #removePidFile(): Promise<void> {
    const pid = await readFile(this.#pidPath, 'utf8').catch(() => '');
    if (pid.trim() === String(process.pid)) await rm(this.#pidPath, { force: true });
  }

  /** What whoever it follows asks. */
  async answer(request: EdgeRequest): Promise<unknown> {
    if (this.#isHanded && CHANGES.has(request.op)) throw new Error('another edge takes over');
    switch (request.op) {
      case 'hello': {
        await this.#announced;
        const { host, port, fingerprint } = this.#options;
        const bound = { bound: this.#bound, tlsHost: this.#options.tls?.host ?? null, tlsBound: this.#tlsBound };
        const { version } = this.#table.value;
        const follows = this.#options.follow !== null && !this.#isClosed;
        return { pid: process.pid, fingerprint, host, port, ...bound, version, binds: true, follows };
      }
      case 'table':
        return this.#table.value;
      case 'apply':
        return this.#table.apply(request.table, (table) => this.#serveBy(table)).finally(() => this.#resolveHasTable());
      case 'change': {
        const { change } = request;
        return this.#table.change(
          (table) => withChange(table, change),
          (table) => this.#serveBy(table, change),
        );
      }
      case 'certificates':
        return this.#presented;
      case 'apply-certificates':
        return this.#certificates.apply(request.set, (set) => this.#present(set));
      case 'succeed':
        return this.#startSuccessor(request.program, request.listeners);
      case 'drained':
        return this.#drained(request.units, request.timeoutMs);
      case 'traffic':
        return this.#traffic(request.app);
      case 'all-traffic':
        return this.#allTraffic();
      case 'access-log':
        return this.#takeAccessLog();
      case 'leave':
        return this.leave(request.timeoutMs);
    }
  }

  async #startSuccessor(program: SuccessorProgram, { plain, tls }: HandedListeners): Promise<{ pid: number }> {
    const ours = this.#options.tls === null ? null : 'ours';
    const listeners = { plain, tls: tls === undefined ? ours : tls };
    if (listeners.tls === 'ours' && ours === null) throw new Error('there is no listener for TLS to hand on');
    const successor = await startSuccessor(program, listeners, (request) => this.#answerSuccessor(request));
    void successor.ended.then(() => {
      // It has not taken over, and everything is as it was; or it has, and this edge hears of no new table any more.
      if (this.#isRetired) this.#resolveRetired();
      else this.#goOn();
    });
    return { pid: successor.pid };
  }

  #goOn(): void {
    this.#log.line('the edge that was to take over has ended');
    if (this.#isHanded) this.#following.resume();
    this.#isHanded = false;
  }

  /** From now on only the successor changes it, so that no server counts on what one of the two does not know. */
  async #hand(): Promise<InForce> {
    this.#isHanded = true;
    await this.#following.pause();
    await Promise.all([this.#table.settled(), this.#certificates.settled()]);
    return { table: this.#table.value, certificates: this.#certificates.value };
  }

  async #answerSuccessor(request: ProcessRequest): Promise<unknown> {
    switch (request.op) {
      case 'hand':
        return this.#hand();
      case 'retire':
        return this.#retire();
      case 'apply':
        return this.#serveBy(request.table);
      case 'present':
        return this.#presentTo(request.presented);
      case 'drained':
        return this.#drained(request.units, request.timeoutMs);
      case 'traffic':
        return this.#traffic(request.app);
      case 'all-traffic':
        return this.#allTraffic();
      case 'access-log':
        return this.#takeAccessLog();
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
    await this.#control.close();
    this.#log.line('another edge has taken over');
    void Promise.all([this.#serving.drain(this.#options.handoverMs), this.#predecessor?.ended])
      .then(() => this.#untilLinesTaken())
      .then(() => this.#resolveRetired());
  }

  /** The successor comes for them every now and then, where any app has its requests logged. */
  async #untilLinesTaken(): Promise<void> {
    if (!this.#table.value.routes.some(({ rules }) => rules?.accessLog === true)) return;
    await new Promise<void>((resolve) => {
      this.#linesTaken = resolve;
      setTimeout(resolve, LAST_LINES_MS);
    });
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
    return before === undefined ? own : sum(own, before);
  }

  async #allTraffic(): Promise<CountedApps> {
    return sumOfAll(await Promise.all([this.#serving.allTraffic(), this.#predecessor?.allTraffic() ?? []]));
  }

  async #takeAccessLog(): Promise<readonly AccessEntry[]> {
    const [own, before = []] = await Promise.all([this.#serving.takeAccessLog(), this.#predecessor?.takeAccessLog()]);
    // Only after this has been answered.
    setImmediate(() => this.#linesTaken());
    return [...before, ...own];
  }

  async #serveBy(table: RouteTable, change?: TableChange): Promise<void> {
    const isChanged = change !== undefined && (await this.#serving.change(change));
    await Promise.all([isChanged ? null : this.#serving.apply(table), this.#predecessor?.apply(table)]);
  }

  async #present(set: CertificateSet): Promise<void> {
    this.#presented = await this.#presentTo({ set, ticketKeys: this.#tickets.current });
  }

  /** The edge before this one has read the same file, and its connection is not open yet. */
  async #presentHere(set: CertificateSet): Promise<void> {
    this.#presented = await this.#serving.present({ set, ticketKeys: this.#tickets.current });
  }

  async #presentTo(presented: Presented): Promise<CertificatesInForce> {
    const [state] = await Promise.all([this.#serving.present(presented), this.#predecessor?.present(presented)]);
    return state;
  }
}
