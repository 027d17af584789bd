/** The edge of this machine, and those elsewhere that follow this server, as one router: what is applied is in force in all of them. */
import type {
  AccessEntry,
  AppTraffic,
  CertificateSet,
  CertificatesInForce,
  Router,
  RouteTable,
} from '../routes/router.ts';
import { EdgeCounts, together } from './edge-counts.ts';
import { EdgeLost } from './edge-lost.ts';
import type { RemoteEdge } from './remote-edge.ts';

interface EdgesRouterDeps {
  readonly own: Router;
  /** So long an edge is waited for whose connection is gone: it may have requests in flight, and comes back to some server. */
  readonly leaseMs: number;
  readonly onRefused: (edge: string, error: unknown) => void;
}

export class EdgesRouter implements Router {
  readonly #deps: EdgesRouterDeps;
  readonly #edges = new Map<string, RemoteEdge>();
  readonly #comers = new Set<(edge: RemoteEdge) => void>();
  readonly #counts = new EdgeCounts();
  #hadEdges = false;
  #table: RouteTable | null = null;
  #certificates: CertificateSet | null = null;

  constructor(deps: EdgesRouterDeps) {
    this.#deps = deps;
  }

  get name(): string {
    return this.#deps.own.name;
  }

  get listen(): string {
    return this.#deps.own.listen;
  }

  get tlsListen(): string | null {
    return this.#deps.own.tlsListen;
  }

  /** Resolves when the edge serves by the newest table and certificates there are; from now on it gets every new one. */
  async add(edge: RemoteEdge): Promise<void> {
    this.#edges.set(edge.name, edge);
    this.#hadEdges = true;
    // First, for an edge that has a table says that it is ready.
    if (this.#certificates !== null) await edge.applyCertificates(this.#certificates);
    if (this.#table !== null) await edge.apply(this.#table);
    for (const comer of this.#comers) comer(edge);
  }

  remove(edge: RemoteEdge): void {
    if (this.#edges.get(edge.name) === edge) this.#edges.delete(edge.name);
  }

  async apply(table: RouteTable): Promise<void> {
    if (this.#table === null || table.version > this.#table.version) this.#table = table;
    if (this.#hadEdges) this.#counts.keepOnly(new Set(table.routes.map(({ app }) => app)));
    await Promise.all([this.#deps.own.apply(table), this.#each((edge) => edge.apply(table))]);
  }

  table(): Promise<RouteTable> {
    return this.#deps.own.table();
  }

  async applyCertificates(set: CertificateSet): Promise<void> {
    if (this.#certificates === null || set.version > this.#certificates.version) this.#certificates = set;
    await Promise.all([this.#deps.own.applyCertificates(set), this.#each((edge) => edge.applyCertificates(set))]);
  }

  certificates(): Promise<CertificatesInForce> {
    return this.#deps.own.certificates();
  }

  async drained(units: readonly string[], timeoutMs: number): Promise<number> {
    const deadline = performance.now() + timeoutMs;
    const elsewhere = [...this.#edges.values()].map((edge) => this.#drainedAt(edge, units, deadline));
    const open = await Promise.all([this.#deps.own.drained(units, timeoutMs), ...elsewhere]);
    return open.reduce((sum, count) => sum + count, 0);
  }

  async traffic(app: string): Promise<AppTraffic> {
    const own = this.#deps.own.traffic(app);
    if (this.#edges.size === 0 && !this.#hadEdges) return own;
    const elsewhere = this.#each(async (edge) =>
      this.#counts.report(edge.greeting.instance, app, await edge.traffic(app)),
    );
    const [counted] = await Promise.all([own, elsewhere]);
    return together(counted, this.#counts.of(app));
  }

  async trafficOf(apps: readonly string[]): Promise<ReadonlyMap<string, AppTraffic>> {
    const own = this.#deps.own.trafficOf(apps);
    if (this.#edges.size === 0 && !this.#hadEdges) return own;
    const elsewhere = this.#each(async (edge) => {
      for (const [app, counted] of await edge.trafficOf(apps))
        this.#counts.report(edge.greeting.instance, app, counted);
    });
    const [here] = await Promise.all([own, elsewhere]);
    return new Map([...here].map(([app, counted]) => [app, together(counted, this.#counts.of(app))]));
  }

  async takeAccessLog(): Promise<readonly AccessEntry[]> {
    const all = [await this.#deps.own.takeAccessLog()];
    await this.#each(async (edge) => void all.push(await edge.takeAccessLog()));
    return all.length === 1 ? (all[0] ?? []) : all.flat().sort((one, other) => one.atMs - other.atMs);
  }

  /** Those elsewhere stay. */
  leave(timeoutMs: number): Promise<void> {
    return this.#deps.own.leave(timeoutMs);
  }

  close(): Promise<void> {
    return this.#deps.own.close();
  }

  stop(): Promise<void> {
    return this.#deps.own.stop();
  }

  /** Who fails has lost its connection by it, and holds up nobody. */
  async #each(work: (edge: RemoteEdge) => Promise<void>): Promise<void> {
    await Promise.all(
      [...this.#edges.values()].map(async (edge) => {
        try {
          await work(edge);
        } catch (error) {
          if (!(error instanceof EdgeLost)) this.#deps.onRefused(edge.name, error);
        }
      }),
    );
  }

  async #drainedAt(edge: RemoteEdge, units: readonly string[], deadline: number): Promise<number> {
    const leftMs = Math.max(0, deadline - performance.now());
    try {
      return await edge.drained(units, Math.ceil(leftMs));
    } catch (error) {
      if (!(error instanceof EdgeLost)) throw error;
      const again = await this.#back(edge.name, Math.min(leftMs, this.#deps.leaseMs));
      return again === null ? 0 : this.#drainedAt(again, units, deadline);
    }
  }

  #back(name: string, withinMs: number): Promise<RemoteEdge | null> {
    return new Promise((resolve) => {
      const end = (edge: RemoteEdge | null): void => {
        clearTimeout(timer);
        this.#comers.delete(came);
        resolve(edge);
      };
      const came = (edge: RemoteEdge): void => {
        if (edge.name === name) end(edge);
      };
      const timer = setTimeout(() => end(null), withinMs);
      this.#comers.add(came);
    });
  }
}
