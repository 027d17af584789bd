/**
 * The router of the platform's own edge: finds or starts the edge process, hands it tables, starts it again when it
 * dies. Knows nothing of how requests are forwarded (src/edge) and nothing of apps.
 */
import { mkdir } from 'node:fs/promises';
import type {
  AccessEntry,
  AppTraffic,
  CertificateSet,
  CertificatesInForce,
  Router,
  RouteTable,
} from '../../../domain/routes/router.ts';
import { type CountedApps, ofEach } from '../../../domain/routes/counted-apps.ts';
import { changeBetween } from '../../../domain/routes/table-change.ts';
import { EdgeLost } from '../../../domain/edges/edge-lost.ts';
import { PlatformError, toPlatformError } from '../../../domain/errors.ts';
import type { EdgeConnection } from './edge-connection.ts';
import { type BoundPorts, portsOf } from './edge-doors.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import {
  copyProgram,
  type EdgeProgram,
  edgeFromFile,
  endEdge,
  ifEdge,
  keeperCommandOf,
  prepareDirectories,
  programOf,
} from './edge-process.ts';
import { type Connected, EdgeStarts, graceMsOf } from './edge-starts.ts';
import { EdgeWatch } from './edge-watch.ts';

const APPLY_MS = 15_000;
const TRAFFIC_MS = 5_000;
const DRAIN_SLACK_MS = 5_000;
const FIRST_RESTART_MS = 50;
const LAST_RESTART_MS = 10_000;
/** An edge that lived this long does not count as failing at its start. */
const STEADY_MS = 60_000;

/**
 * Adopts the edge that runs for these directories if it is the same program with the same options on the same address,
 * replaces it if it is another, starts one if there is none. Throws `config.invalid` when the address cannot be had.
 */
export async function createEdgeRouter({ user, ...given }: UserLater): Promise<AdoptingRouter> {
  await mkdir(given.stateDir, { recursive: true, mode: 0o700 });
  const settle = async (): Promise<EdgeRouterOptions> => {
    const options = { ...given, user: (await user) ?? null };
    await prepareDirectories(options);
    return options;
  };
  // The copy is the same whose it is.
  const both = [settle(), copyProgram(given)] as const;
  await Promise.allSettled(both);
  const [options, copied] = await Promise.all(both);
  const router = new EdgeRouter(options, programOf(options, copied));
  await router.start();
  return router;
}

/** Whose the edge is may be settled meanwhile. */
type UserLater = Omit<EdgeRouterOptions, 'user'> & { readonly user?: Promise<number | null> | number | null };

export interface AdoptingRouter extends Router {
  /** The edge ran before this router was made. */
  readonly adopted: boolean;
  /** It did, or it has taken over from one that did. */
  readonly hasServed: boolean;
  /** What is to run while control is away, with its arguments; null: nothing. */
  readonly keeperCommand: readonly string[] | null;
}

class EdgeRouter implements AdoptingRouter {
  readonly name = 'edge';
  listen = '';
  tlsListen: string | null = null;
  adopted = false;
  hasServed = false;
  readonly #options: EdgeRouterOptions;
  readonly #program: EdgeProgram;
  /** As asked for; from the first start on those that the edge has. */
  #ports: BoundPorts;
  #edge: Promise<Connected>;
  #table: RouteTable | null = null;
  /** The table that was sent last over a connection. */
  #handed: { readonly client: EdgeConnection; readonly table: RouteTable } | null = null;
  #certificates: CertificateSet | null = null;
  #letGo = false;
  #startedAt = 0;
  #restartMs = FIRST_RESTART_MS;
  #wake: (() => void) | null = null;
  readonly #starts: EdgeStarts;
  readonly #watch: EdgeWatch;

  constructor(options: EdgeRouterOptions, program: EdgeProgram) {
    this.#options = options;
    this.#program = program;
    this.#starts = new EdgeStarts(options, program, (connected) => this.#lost(connected));
    this.#watch = new EdgeWatch((pid) => void this.#starts.endStuck(pid));
    this.#ports = { port: options.listen.port, tlsPort: options.tls?.port ?? 0 };
    this.#edge = Promise.reject(new EdgeLost('not started yet'));
    this.#edge.catch(() => {});
  }

  async start(): Promise<void> {
    this.#edge = this.#ensure();
    const connected = await this.#edge;
    this.listen = connected.hello.bound;
    this.tlsListen = connected.hello.tlsBound ?? null;
    this.#ports = portsOf(connected.hello);
  }

  get keeperCommand(): readonly string[] | null {
    return keeperCommandOf(this.#options, this.#program, this.#ports);
  }

  async apply(table: RouteTable): Promise<void> {
    if (this.#table === null || table.version > this.#table.version) this.#table = table;
    await this.#retrying((client) => this.#handTable(client, table));
  }

  async table(): Promise<RouteTable> {
    return (await this.#retrying((client) => client.ask('table', {}, APPLY_MS))) as RouteTable;
  }

  async applyCertificates(set: CertificateSet): Promise<void> {
    if (this.#certificates === null || set.version > this.#certificates.version) this.#certificates = set;
    await this.#retrying((client) => this.#hand(client, 'apply-certificates', { set }));
  }

  async certificates(): Promise<CertificatesInForce> {
    return (await this.#retrying((client) => client.ask('certificates', {}, APPLY_MS))) as CertificatesInForce;
  }

  async drained(units: readonly string[], timeoutMs: number): Promise<number> {
    try {
      const { client } = await this.#edge;
      const open = await client.ask('drained', { units, timeoutMs }, timeoutMs + DRAIN_SLACK_MS);
      return typeof open === 'number' ? open : 0;
    } catch (error) {
      // An edge that is gone has no request in flight.
      if (error instanceof EdgeLost && !this.#letGo) return 0;
      throw this.#worded(error);
    }
  }

  async traffic(app: string): Promise<AppTraffic> {
    return (await this.#retrying((client) => client.ask('traffic', { app }, TRAFFIC_MS))) as AppTraffic;
  }

  async trafficOf(apps: readonly string[]): Promise<ReadonlyMap<string, AppTraffic>> {
    return ofEach(apps, (await this.#retrying((client) => client.ask('all-traffic', {}, TRAFFIC_MS))) as CountedApps);
  }

  async takeAccessLog(): Promise<readonly AccessEntry[]> {
    return (await this.#retrying((client) => client.ask('access-log', {}, TRAFFIC_MS))) as AccessEntry[];
  }

  async leave(timeoutMs: number): Promise<void> {
    await this.#retrying((client) => client.ask('leave', { timeoutMs }, timeoutMs + DRAIN_SLACK_MS));
  }

  async close(): Promise<void> {
    const connected = await this.#letItGo();
    connected?.client.close();
  }

  async stop(): Promise<void> {
    const connected = await this.#letItGo();
    const found = await this.#starts.find();
    // Its socket and its pid file may have been removed by somebody; it would keep the port for good.
    const pid =
      found?.hello.pid ?? (await edgeFromFile(this.#options)) ?? (await ifEdge(this.#options, connected?.hello.pid));
    if (pid !== null) await endEdge(pid, graceMsOf(this.#options));
    // Connected until its end: one of an earlier version starts a keeper when it is left alone.
    for (const { client } of [connected, found].filter((one) => one !== null)) client.close();
  }

  #letItGo(): Promise<Connected | null> {
    this.#letGo = true;
    this.#watch.end();
    this.#wake?.();
    return this.#edge.catch(() => null);
  }

  /** Once more on the next edge when this one dies meanwhile: applying and asking twice does no harm. */
  async #retrying<T>(ask: (client: EdgeConnection) => Promise<T>): Promise<T> {
    try {
      try {
        return await ask((await this.#edge).client);
      } catch (error) {
        if (!(error instanceof EdgeLost) || this.#letGo) throw error;
        return await ask((await this.#edge).client);
      }
    } catch (error) {
      throw this.#worded(error);
    }
  }

  #worded(error: unknown): PlatformError {
    if (!(error instanceof EdgeLost)) return toPlatformError(error);
    const message = this.#letGo ? 'The router has been closed.' : 'The edge is down; it is being started again.';
    return new PlatformError('unavailable', message, { cause: error, hint: 'Try again in a moment.' });
  }

  /** What is new only, where this connection has sent the table before. */
  async #handTable(client: EdgeConnection, table: RouteTable): Promise<void> {
    const handed = this.#handed;
    const change = handed?.client === client ? changeBetween(handed.table, table) : null;
    this.#handed = null;
    if (change === null || !(await this.#hand(client, 'change', { change })))
      await this.#hand(client, 'apply', { table });
    this.#handed = { client, table };
  }

  /** False where the edge makes nothing of it. */
  async #hand(client: EdgeConnection, op: string, what: object): Promise<boolean> {
    const applied = (await client.ask(op, what, APPLY_MS)) as { version: number; persisted: boolean } | null;
    if (applied === null) return false;
    const { version, persisted } = applied;
    if (!persisted) {
      const fields = { op, version, stateDir: this.#options.stateDir };
      this.#options.logger.warn(fields, 'the edge goes by what is new but could not write it to disk');
    }
    return true;
  }

  /** Resolves once there is an edge that has the last table. */
  async #ensure(): Promise<Connected> {
    const { connected, adopted, hasServed } = await this.#starts.ensure(this.#ports);
    [this.adopted, this.hasServed] = [adopted, hasServed];
    this.#startedAt = performance.now();
    this.#watch.begin(connected.client, connected.hello.pid);
    this.#options.onServing?.(connected.hello.pid);
    if (this.#table !== null) await this.#handTable(connected.client, this.#table);
    if (this.#certificates !== null)
      await this.#hand(connected.client, 'apply-certificates', { set: this.#certificates });
    return connected;
  }

  /** Called for every connection that ends; only the one in use means that the edge has died. */
  #lost(connected: Connected): void {
    if (this.#letGo) return;
    void this.#edge.then(
      (current) => {
        if (current === connected && !this.#letGo) this.#revive();
      },
      () => {},
    );
  }

  #revive(): void {
    this.#watch.end();
    const livedMs = performance.now() - this.#startedAt;
    if (livedMs > STEADY_MS) this.#restartMs = FIRST_RESTART_MS;
    this.#options.logger.warn({ livedMs: Math.round(livedMs) }, 'the edge has died and is being started again');
    this.#edge = this.#restart();
    this.#edge.catch(() => {});
  }

  async #restart(): Promise<Connected> {
    for (;;) {
      const delayMs = this.#restartMs;
      this.#restartMs = Math.min(delayMs * 2, LAST_RESTART_MS);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, delayMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = null;
      if (this.#letGo) throw new EdgeLost('the router has been closed');
      try {
        return await this.#ensure();
      } catch (error) {
        this.#options.logger.error({ err: error }, 'the edge could not be started again, next attempt follows');
      }
    }
  }
}
