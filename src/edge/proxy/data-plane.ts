import { createServer, type Server, type Socket } from 'node:net';
import type { AccessEntry, AppTraffic, CertificatesInForce, Route, RouteTable } from '../../domain/routes/router.ts';
import { speedUp } from '../../lib/small-start.ts';
import type { TableChange } from '../../domain/routes/table-change.ts';
import { ConnectionGate, openFilesLimit } from '../../lib/connection-gate.ts';
import { KeyedCounter } from '../../lib/keyed-counter.ts';
import { listening } from '../../lib/listening.ts';
import { TrustedProxies } from '../../lib/trusted-proxies.ts';
import { withChange } from '../control/table-change.ts';
import { PLATFORM_ROUTE, withPlatform } from '../routing/platform-route.ts';
import { type LiveRoute, LiveTable } from '../routing/route-table.ts';
import { TargetPools } from '../routing/target-pools.ts';
import type { CountedApps } from '../../domain/routes/counted-apps.ts';
import { type AppCount, Traffic } from '../routing/traffic.ts';
import type { LiveCounts } from '../live-counts.ts';
import type { Ports, Serving } from '../serving.ts';
import { LiveCertificates, type Presented } from '../tls/live-certificates.ts';
import type { TlsListener } from '../tls/tls-listener.ts';
import { AccessLog } from './access-log.ts';
import type { EdgeClientConnection } from './client.ts';
import { ClientConnection } from './client-connection.ts';
import { Deadlines, type Watched } from './deadlines.ts';
import { HeldRequests } from './held-requests.ts';
import type { Plane } from './plane.ts';
import type { EdgeProxySettings } from './settings.ts';
import { UploadPermits } from './upload-permits.ts';

/** A listener that is bound, or an address for a new one. */
type At = { readonly fd: number } | { readonly host: string; readonly port: number };

const BACKLOG = 1_024;
const TICK_MS = 100;
const POLL_MS = 10;
/** For everything but traffic. */
const SPARE_FILES = 128;
/** For the last bytes of closing connections, once no request is left. */
const FAREWELL_MS = 500;

/** The data plane of one process: the public listener, the table in force, and every connection. */
export class DataPlane implements Serving {
  readonly #plane: Plane;
  readonly #traffic = new Traffic();
  readonly #clients = new Set<EdgeClientConnection>();
  readonly #server: Server;
  readonly #onFault: (error: Error) => void;
  /** Before what is the platform's. */
  #given: RouteTable = { version: 0, routes: [] };
  /** Of the table in force. */
  #live = new Map<Route, LiveRoute>();
  #tls: TlsListener | null = null;
  #ticketKeys = '';
  #presenting: Promise<unknown> = Promise.resolve();
  readonly #gate: ConnectionGate;
  readonly #janitor: Watched;

  /** `onFault` hears of failures of the listener that leave it listening (out of file descriptors). */
  constructor(settings: EdgeProxySettings, onFault: (error: Error) => void) {
    const deadlines = new Deadlines(Math.min(TICK_MS, Math.max(10, settings.timeouts.headMs / 4)));
    this.#plane = {
      settings,
      deadlines,
      proxies: new TrustedProxies(settings.trustedProxies),
      uploads: new UploadPermits(settings, deadlines),
      accessLog: new AccessLog(),
      held: new HeldRequests(settings.limits.heldPerApp),
      streams: new KeyedCounter(),
      pools: new TargetPools(settings, deadlines),
      table: new LiveTable({ version: 0, routes: [] }, () => {
        throw new Error('an empty table has no routes');
      }),
      certificates: LiveCertificates.none,
      port: 0,
      tlsPort: 0,
      draining: false,
      stopping: false,
    };
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    this.#gate = new ConnectionGate(roomOf(settings));
    this.#server.on('error', onFault);
    this.#onFault = onFault;
    this.#janitor = {
      deadline: 0,
      expire: () => {
        this.#plane.pools.expire();
        this.#plane.held.askAgain(deadlines.now);
        this.#janitor.deadline = 0;
      },
    };
    deadlines.watch(this.#janitor);
    this.#serveBy({ version: 0, routes: [] });
  }

  async listen(at: { readonly plain: At; readonly tls: At | null }): Promise<Ports> {
    if (at.tls !== null) await this.#listenForTls(at.tls);
    await listening(this.#server, { ...at.plain, backlog: BACKLOG });
    const address = this.#server.address();
    this.#plane.port = typeof address === 'object' && address !== null ? address.port : 0;
    return { port: this.#plane.port, tlsPort: this.#plane.tlsPort };
  }

  /** What is only needed for TLS is loaded only where it is spoken. */
  async #listenForTls(at: At): Promise<void> {
    const { TlsListener } = await import('../tls/tls-listener.ts');
    this.#tls = new TlsListener({
      plane: this.#plane,
      gate: this.#gate,
      onClient: (client, socket) => this.#enter(client, socket),
      onFault: this.#onFault,
    });
    this.#tls.ticketKeys = this.#ticketKeys;
    this.#plane.tlsPort = await this.#tls.listen({ ...at, backlog: BACKLOG });
  }

  apply(table: RouteTable): Promise<void> {
    if (table.version > this.#plane.table.version) this.#serveBy(table);
    return Promise.resolve();
  }

  change(change: TableChange): Promise<boolean> {
    const table = withChange(this.#given, change);
    if (table !== null) this.#serveBy(table);
    return Promise.resolve(table !== null);
  }

  #serveBy(given: RouteTable): void {
    const { platform, timeouts } = this.#plane.settings;
    const table = withPlatform(given, platform);
    const before = this.#live;
    this.#given = given;
    this.#live = new Map();
    this.#plane.table = new LiveTable(table, (route) => {
      // What stays in the table has its pools and its counter.
      const live = before.get(route) ?? this.#makeLive(route, timeouts);
      this.#live.set(route, live);
      return live;
    });
    this.#plane.pools.settle([...this.#live.values()].flatMap(({ pools }) => pools));
    this.#plane.held.release(this.#plane.table);
    this.#traffic.keepOnly(new Set(table.routes.map((route) => route.app)));
  }

  #makeLive(route: Route, timeouts: EdgeProxySettings['timeouts']): LiveRoute {
    return {
      app: route.app,
      note: route.note,
      https: route.https,
      answerMs: answerMsOf(route, timeouts),
      rules: route.rules ?? null,
      pools: route.targets.map((target) => this.#plane.pools.pool(target)),
      counter: this.#traffic.counter(route.app),
    };
  }

  present(presented: Presented): Promise<CertificatesInForce> {
    const done = this.#presenting.then(() => this.#present(presented));
    this.#presenting = done.catch(() => {});
    return done;
  }

  async #present({ set, ticketKeys }: Presented): Promise<CertificatesInForce> {
    if (set.version > this.#plane.certificates.version)
      this.#plane.certificates = await LiveCertificates.of(set, this.#plane.certificates);
    this.#ticketKeys = ticketKeys;
    if (this.#tls !== null) this.#tls.ticketKeys = ticketKeys;
    return this.#plane.certificates.state;
  }

  drained(units: readonly string[], timeoutMs: number): Promise<number> {
    return this.#plane.pools.drained(new Set(units), timeoutMs);
  }

  traffic(app: string): Promise<AppTraffic> {
    return Promise.resolve(this.#traffic.of(app));
  }

  allTraffic(): Promise<CountedApps> {
    return Promise.resolve(this.#traffic.all());
  }

  takeAccessLog(): Promise<readonly AccessEntry[]> {
    return Promise.resolve(this.#plane.accessLog.take());
  }

  /** See Traffic. */
  reportTraffic(report: (counts: readonly AppCount[]) => void, live: LiveCounts | null = null): void {
    this.#traffic.reportTo(report, live);
  }

  leave(): Promise<void> {
    this.#plane.draining = true;
    return Promise.resolve();
  }

  /** Idle connections are left to their clients, and to their own time-out: one that is closed may just be in use again. */
  async drain(boundMs: number): Promise<void> {
    this.#plane.draining = true;
    void this.#closeListeners();
    const isLeft = (): boolean => this.#clients.size > 0 || (this.#tls?.greeting ?? 0) > 0;
    await until(() => !isLeft() || this.#plane.stopping, boundMs);
  }

  async stop(graceMs: number): Promise<void> {
    this.#plane.draining = true;
    this.#plane.stopping = true;
    const closed = this.#closeListeners();
    this.#tls?.cut();
    for (const client of [...this.#clients]) client.closeWhenIdle();
    await until(() => ![...this.#clients].some((client) => client.busy), graceMs);
    this.#plane.pools.closeTunnels();
    await until(() => this.#clients.size === 0, Math.min(graceMs, FAREWELL_MS));
    for (const client of [...this.#clients]) client.cut();
    this.#plane.pools.close();
    this.#plane.deadlines.forget(this.#janitor);
    await closed;
  }

  /** Resolves when the connections are gone too; also where it was closed before. */
  async #closeListeners(): Promise<void> {
    await Promise.all([new Promise<void>((resolve) => this.#server.close(() => resolve())), this.#tls?.close()]);
  }

  #accept(socket: Socket): void {
    speedUp();
    const client = new ClientConnection(this.#plane, socket);
    const leave = this.#gate.enter(client.isTrusted ? null : client.address, client);
    if (leave === null) {
      client.close();
      return;
    }
    socket.once('close', leave);
    this.#enter(client, socket);
  }

  #enter(client: EdgeClientConnection, socket: Socket): void {
    this.#clients.add(client);
    socket.once('close', () => this.#clients.delete(client));
  }
}

/** Of the platform: a push answers when the new version does, and whoever follows a log waits for the next line. */
function answerMsOf({ app, rules }: Route, { answerMs, silenceMs }: EdgeProxySettings['timeouts']): number {
  if (app === PLATFORM_ROUTE) return silenceMs;
  return rules?.answerSeconds === undefined ? answerMs : rules.answerSeconds * 1_000;
}

/** Every client may need a connection to a unit, too. */
function roomOf({ limits }: EdgeProxySettings): { most: number; mostPerAddress: number } {
  const most = Math.min(limits.clientConnections, Math.floor((openFilesLimit() - SPARE_FILES) / 2));
  return { most: Math.max(1, most), mostPerAddress: limits.connectionsPerAddress };
}

async function until(holds: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!holds() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
