/**
 * The router of the platform's own edge: finds or starts the edge process, hands it tables, starts it again when it
 * dies. Knows nothing of how requests are forwarded (src/edge) and nothing of apps.
 */
import type {
  AccessEntry,
  AppTraffic,
  CertificateSet,
  CertificateState,
  Router,
  RouteTable,
} from '../../../domain/routes/router.ts';
import { type CountedApps, ofEach } from '../../../domain/routes/counted-apps.ts';
import { changeBetween } from '../../../domain/routes/table-change.ts';
import { PlatformError, isPlatformError, toPlatformError } from '../../../domain/errors.ts';
import { Heartbeats } from '../../../lib/heartbeats.ts';
import { bestEffort } from '../../../lib/logger.ts';
import { readProcess } from '../../../lib/processes.ts';
import { EdgeClient, EdgeLost } from './edge-client.ts';
import { type EdgeDoors, doorsOf, type Hello, portOf, standing } from './edge-doors.ts';
import { handedBy, sameAddresses } from './handed-listeners.ts';
import { leadToOwnPlaces, socketsOf } from './edge-places.ts';
import { EdgeWatch } from './edge-watch.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import {
  boundLog,
  canStartAs,
  commandOf,
  type EdgeProgram,
  edgeFromFile,
  endEdge,
  ifEdge,
  isEdgeOf,
  keeperCommandOf,
  pathsOf,
  prepareDirectories,
  prepareProgram,
  removeOtherPrograms,
  spawnEdge,
} from './edge-process.ts';

const START_MS = 60_000;
const POLL_MS = 10;
const CONNECT_MS = 2_000;
const HELLO_MS = 30_000;
const APPLY_MS = 15_000;
const TRAFFIC_MS = 5_000;
const DRAIN_SLACK_MS = 5_000;
const DEFAULT_STOP_GRACE_MS = 10_000;
const STOP_SLACK_MS = 3_000;
const FIRST_RESTART_MS = 50;
const LAST_RESTART_MS = 10_000;
/** An edge that lived this long does not count as failing at its start. */
const STEADY_MS = 60_000;

interface Connected {
  readonly client: EdgeClient;
  readonly hello: Hello;
}

/**
 * Adopts the edge that runs for these directories if it is the same program with the same options on the same address,
 * replaces it if it is another, starts one if there is none. Throws `config.invalid` when the address cannot be had.
 */
export async function createEdgeRouter(options: EdgeRouterOptions): Promise<AdoptingRouter> {
  await prepareDirectories(options);
  const router = new EdgeRouter(options, await prepareProgram(options));
  await router.start();
  return router;
}

export interface AdoptingRouter extends Router {
  /** The edge ran before this router was made. */
  readonly adopted: boolean;
  /** What is to run while control is away, with its arguments; null: nothing. */
  readonly keeperCommand: readonly string[] | null;
}

class EdgeRouter implements AdoptingRouter {
  readonly name = 'edge';
  listen = '';
  tlsListen: string | null = null;
  adopted = false;
  readonly #options: EdgeRouterOptions;
  readonly #program: EdgeProgram;
  #port: number;
  #tlsPort: number;
  #edge: Promise<Connected>;
  #table: RouteTable | null = null;
  /** The table that was sent last over a connection. */
  #handed: { readonly client: EdgeClient; readonly table: RouteTable } | null = null;
  #certificates: CertificateSet | null = null;
  #letGo = false;
  #startedAt = 0;
  #restartMs = FIRST_RESTART_MS;
  #wake: (() => void) | null = null;
  readonly #watch = new EdgeWatch((pid) => void this.#endStuck(pid));

  constructor(options: EdgeRouterOptions, program: EdgeProgram) {
    this.#options = options;
    this.#program = program;
    this.#port = options.listen.port;
    this.#tlsPort = options.tls?.port ?? 0;
    this.#edge = Promise.reject(new EdgeLost('not started yet'));
    this.#edge.catch(() => {});
  }

  async start(): Promise<void> {
    this.#edge = this.#ensure();
    const connected = await this.#edge;
    this.listen = connected.hello.bound;
    this.#port = portOf(this.listen);
    this.tlsListen = connected.hello.tlsBound ?? null;
    this.#tlsPort = this.tlsListen === null ? 0 : portOf(this.tlsListen);
  }

  get keeperCommand(): readonly string[] | null {
    return keeperCommandOf(this.#options, this.#program, { port: this.#port, tlsPort: this.#tlsPort });
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

  async certificates(): Promise<CertificateState> {
    return (await this.#retrying((client) => client.ask('certificates', {}, APPLY_MS))) as CertificateState;
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
    const found = await this.#find();
    // Its socket and its pid file may have been removed by somebody; it would keep the port for good.
    const pid =
      found?.hello.pid ?? (await edgeFromFile(this.#options)) ?? (await ifEdge(this.#options, connected?.hello.pid));
    if (pid !== null) await endEdge(pid, this.#graceMs);
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
  async #retrying<T>(ask: (client: EdgeClient) => Promise<T>): Promise<T> {
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
  async #handTable(client: EdgeClient, table: RouteTable): Promise<void> {
    const handed = this.#handed;
    const change = handed?.client === client ? changeBetween(handed.table, table) : null;
    this.#handed = null;
    if (change === null || !(await this.#hand(client, 'change', { change })))
      await this.#hand(client, 'apply', { table });
    this.#handed = { client, table };
  }

  /** False where the edge makes nothing of it. */
  async #hand(client: EdgeClient, op: string, what: object): Promise<boolean> {
    const applied = (await client.ask(op, what, APPLY_MS)) as { version: number; persisted: boolean } | null;
    if (applied === null) return false;
    const { version, persisted } = applied;
    if (!persisted) {
      const fields = { op, version, stateDir: this.#options.stateDir };
      this.#options.logger.warn(fields, 'the edge goes by what is new but could not write it to disk');
    }
    return true;
  }

  /** Adopts, replaces or starts; resolves once the edge answers on its socket and has the last table. */
  async #ensure(): Promise<Connected> {
    const found = await this.#find();
    const fits = found !== null && this.#fits(found.hello);
    const connected = fits ? found : await this.#launch(found);
    this.adopted = fits;
    this.#startedAt = performance.now();
    this.#watch.begin(connected.client, connected.hello.pid);
    this.#options.onServing?.(connected.hello.pid);
    if (this.#table !== null) await this.#handTable(connected.client, this.#table);
    if (this.#certificates !== null)
      await this.#hand(connected.client, 'apply-certificates', { set: this.#certificates });
    return connected;
  }

  #fits(hello: Hello): boolean {
    const { plain, tls } = standing(this.#doors, hello);
    return hello.fingerprint === this.#program.fingerprint && plain && tls;
  }

  get #doors(): EdgeDoors {
    return doorsOf(this.#options, { port: this.#port, tlsPort: this.#tlsPort });
  }

  /** The edge that answers on the socket, whatever it is; one that hangs is killed. */
  async #find(): Promise<Connected | null> {
    let connected: Connected | null = null;
    const onLost = (): void => this.#lost(connected);
    const client = await EdgeClient.connectAny(socketsOf(this.#options), CONNECT_MS, onLost);
    if (client === null) return null;
    const pid = await edgeFromFile(this.#options);
    // On a machine that has too much to do it may be long before it answers, and it serves meanwhile.
    const heartbeats = new Heartbeats({ onStuck: (stuck) => void this.#endStuck(stuck) });
    if (pid !== null) heartbeats.beat(pid);
    try {
      const hello = (await client.ask('hello', {}, pid === null ? CONNECT_MS : HELLO_MS)) as Hello;
      connected = { client, hello };
      return connected;
    } catch (error) {
      client.close();
      if (isPlatformError(error, 'timeout') && pid !== null) await endEdge(pid, CONNECT_MS);
      return null;
    } finally {
      if (pid !== null) heartbeats.forget(pid);
    }
  }

  async #launch(found: Connected | null): Promise<Connected> {
    if (found === null) return this.#started(await this.#spawn());
    const is = standing(this.#doors, found.hello);
    // One that hands on only what it has gives way to one at the same addresses first, which then can.
    const able = (is.plain && is.tls) || found.hello.binds === true ? found : await this.#replaced(found, null);
    return this.#replaced(able, this.#doors);
  }

  async #replaced(found: Connected, doors: EdgeDoors | null): Promise<Connected> {
    return this.#started((await this.#succeed(found, doors)) ?? (await this.#spawn()));
  }

  async #started(pid: number): Promise<Connected> {
    const deadline = performance.now() + START_MS;
    // It may have another command line for a moment, or none: what has started it makes it the edge.
    while (readProcess(pid)?.zombie === false) {
      const started = await this.#find();
      if (started?.hello.pid === pid && started !== null) {
        await removeOtherPrograms(this.#options, this.#program);
        await leadToOwnPlaces(this.#options);
        return started;
      }
      started?.client.close();
      if (performance.now() > deadline) {
        await endEdge(pid, CONNECT_MS);
        throw this.#notStarted(`did not answer within ${START_MS} ms of its start`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw this.#notStarted('ended at its start');
  }

  async #spawn(): Promise<number> {
    return (await spawnEdge(this.#options, this.#program, { port: this.#port, tlsPort: this.#tlsPort })).pid ?? 0;
  }

  /**
   * Has the edge that serves start the new one with the listeners that stay, and with new ones where another address is wanted, so that
   * nobody is turned away meanwhile; without `doors` at the addresses it has. Null when it cannot be done: a new address cannot be had
   * beside its own, it is too old to know how, or it is a user that cannot become the one that is wanted. It is ended then. Throws `config.invalid` when an address is another program's.
   */
  async #succeed({ client, hello }: Connected, doors: EdgeDoors | null): Promise<number | null> {
    try {
      const isAble = canStartAs(this.#options, hello.pid);
      const handed = doors === null ? sameAddresses(hello) : await handedBy(hello, doors);
      if (handed !== null && isAble) {
        await boundLog(pathsOf(this.#options).log);
        const { host, tls, ports } = handed;
        const options = { ...this.#options, listen: { ...this.#options.listen, host }, tls };
        const program = commandOf(options, this.#program, { ports, starter: hello.pid });
        const request = { program, listeners: handed.listeners };
        return ((await client.ask('succeed', request, START_MS)) as { pid: number }).pid;
      }
    } catch (error) {
      if (isPlatformError(error, 'config.invalid')) throw error;
      this.#options.logger.warn({ err: error }, 'the edge cannot be taken over from and is ended first');
    } finally {
      client.close();
    }
    await endEdge(hello.pid, this.#graceMs);
    return null;
  }

  get #graceMs(): number {
    return (this.#options.stopGraceMs ?? DEFAULT_STOP_GRACE_MS) + STOP_SLACK_MS;
  }

  #notStarted(what: string): PlatformError {
    return new PlatformError('unavailable', `The edge ${what}.`, {
      hint: `${pathsOf(this.#options).log} says why.`,
    });
  }

  /** Called for every connection that ends; only the one in use means that the edge has died. */
  #lost(connected: Connected | null): void {
    if (this.#letGo || connected === null) return;
    void this.#edge.then(
      (current) => {
        if (current === connected && !this.#letGo) this.#revive();
      },
      () => {},
    );
  }

  /** It would hold up every change of the routes; what it serves hangs as well. */
  async #endStuck(pid: number): Promise<void> {
    this.#options.logger.error({ pid }, 'the edge does not answer any more and is ended');
    await bestEffort(this.#options.logger, 'ending the edge', async () => {
      if (await isEdgeOf(this.#options, pid)) process.kill(pid, 'SIGKILL');
    });
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
