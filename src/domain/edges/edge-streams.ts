/**
 * The edges elsewhere that follow this server. Each has a lease, which the server that it follows renews with every sign of life: whoever
 * ends units waits for all edges whose leases have not ended (controls/peers.ts), so a dead one holds up nobody for longer.
 */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { Lease, Store } from '../store.ts';
import { EDGE_PREFIX } from '../controls/edge-prefix.ts';
import { EdgeLine, type EdgeCarrier } from './edge-line.ts';
import { EdgeLost } from './edge-lost.ts';
import type { EdgeRecords } from './edge-records.ts';
import type { EdgesRouter } from './edges-router.ts';
import { type EdgeGreeting, RemoteEdge } from './remote-edge.ts';

export const EDGE_TTL_MS = 4_500;

interface EdgeStreamsDeps {
  readonly store: Pick<Store, 'lease' | 'renewLease' | 'releaseLease'>;
  readonly records: EdgeRecords;
  readonly router: Pick<EdgesRouter, 'add' | 'remove'>;
  /** Resolves when the router serves by what the store had after the call. */
  readonly refresh: () => Promise<void>;
  readonly logger: Logger;
  readonly ttlMs?: number;
}

interface Newcomer {
  readonly greeting: EdgeGreeting;
  readonly carrier: EdgeCarrier;
  /** Asked again and again; false ends the stream. */
  readonly isAdmitted: () => Promise<boolean>;
}

export class EdgeStreams {
  readonly #deps: EdgeStreamsDeps;
  readonly #ttlMs: number;
  readonly #attached = new Map<string, RemoteEdge>();
  readonly #lines = new Set<EdgeLine>();
  readonly #carried = new Set<Promise<void>>();
  #isClosed = false;
  readonly #releases = new Set<NodeJS.Timeout>();

  constructor(deps: EdgeStreamsDeps) {
    this.#deps = deps;
    this.#ttlMs = deps.ttlMs ?? EDGE_TTL_MS;
  }

  /** By name, those that serve by what this server publishes; another object after the connection was another one. */
  get attached(): ReadonlyMap<string, RemoteEdge> {
    return this.#attached;
  }

  /** Resolves when the stream has ended. */
  carry(newcomer: Newcomer): Promise<void> {
    const carried = this.#carry(newcomer).finally(() => this.#carried.delete(carried));
    this.#carried.add(carried);
    return carried;
  }

  async #carry({ greeting, carrier, isAdmitted }: Newcomer): Promise<void> {
    const { store, router, logger } = this.#deps;
    const line = new EdgeLine(carrier);
    if (this.#isClosed) return line.end('the server is stopping');
    const key = EDGE_PREFIX + greeting.name;
    this.#lines.add(line);
    void line.ended.then(() => this.#lines.delete(line));
    const token = await store.lease(key, greeting.instance, this.#ttlMs);
    if (token === null) return line.end('another edge has this name');
    const lease = { key, token };
    const edge = new RemoteEdge(greeting, line);
    const stop = repeatedly(this.#ttlMs / 3, () => this.#beat(edge, lease, isAdmitted));
    try {
      await this.#begin(edge);
    } catch (error) {
      if (!(error instanceof EdgeLost)) logger.warn({ err: error, edge: edge.name }, 'an edge cannot follow');
      line.end('the server cannot have it follow');
    }
    const hasLeft = await line.ended;
    if (this.#attached.get(edge.name) === edge) this.#attached.delete(edge.name);
    router.remove(edge);
    await stop();
    logger.info({ edge: edge.name, hasLeft }, 'an edge follows no more');
    await this.#end(edge, lease, hasLeft);
  }

  /** Edges go to another server. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const line of this.#lines) line.end('the server is stopping');
    await Promise.allSettled(this.#carried);
    for (const timer of this.#releases) clearTimeout(timer);
  }

  async #begin(edge: RemoteEdge): Promise<void> {
    const { records, router, refresh, logger } = this.#deps;
    this.#attached.get(edge.name)?.line.end('the edge has come again');
    // It may have followed another server, which knew more than this one has heard of yet.
    await refresh();
    await router.add(edge);
    this.#attached.set(edge.name, edge);
    logger.info({ ...edge.greeting, edge: edge.name }, 'an edge follows');
    await bestEffort(logger, 'noting an edge', () => records.came(edge.greeting));
  }

  async #beat(edge: RemoteEdge, lease: Lease, isAdmitted: () => Promise<boolean>): Promise<void> {
    const { store, logger } = this.#deps;
    try {
      await edge.alive(this.#ttlMs - this.#ttlMs / 3);
    } catch {
      return;
    }
    // A database that is away has no edge go elsewhere: nobody there could do more.
    await bestEffort(logger, 'renewing the lease of an edge', async () => {
      if (!(await isAdmitted())) edge.line.end('the token was revoked');
      else if (!(await store.renewLease(lease, this.#ttlMs))) edge.line.end('the edge follows another server');
    });
  }

  async #end({ greeting }: RemoteEdge, lease: Lease, hasLeft: boolean): Promise<void> {
    const { store, records, logger } = this.#deps;
    const noting = (): Promise<void> => (hasLeft ? records.left(greeting) : records.lost(greeting));
    await bestEffort(logger, 'noting the end of an edge', noting);
    const release = (): Promise<void> =>
      bestEffort(logger, 'giving back the lease of an edge', () => store.releaseLease(lease));
    if (hasLeft) return release();
    const timer = setTimeout(() => {
      this.#releases.delete(timer);
      void release();
    }, this.#ttlMs).unref();
    this.#releases.add(timer);
  }
}
