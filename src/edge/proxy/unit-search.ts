import type { RequestHead } from '../http/request-head.ts';
import { PLATFORM } from '../routing/platform-route.ts';
import type { LiveRoute } from '../routing/route-table.ts';
import type { Applicant, TargetPool } from '../routing/target-pool.ts';
import type { Plane } from './plane.ts';
import { BUSY, failure, noApp, type RefusedRequest } from './refusals.ts';
import type { UnitConnection } from './unit-connection.ts';

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'PROPFIND', 'REPORT', 'SEARCH']);

/** Which unit is asked next on behalf of one request; it counts as in flight there from then until leave(). */
export class UnitSearch {
  /** By the newest table looked at. */
  route: LiveRoute;
  /** A connection could not be made in time. */
  timedOut = false;
  readonly idempotent: boolean;
  readonly #plane: Plane;
  readonly #host: string;
  #pool: TargetPool | null = null;
  #tried: Set<TargetPool> | null = null;

  constructor(plane: Plane, head: RequestHead, route: LiveRoute) {
    this.#plane = plane;
    this.#host = head.host.name;
    this.idempotent = IDEMPOTENT.has(head.method);
    this.route = route;
  }

  /**
   * Asks for a connection to the best unit not tried yet, `fresh`: a new one. The applicant hears of it by
   * unitGranted(), maybe before this returns. Returns why not when there is none to ask.
   */
  next(applicant: Applicant, fresh: boolean): RefusedRequest | null {
    const route = this.#plane.table.match(this.#host);
    if (route === null) return noApp(this.#host);
    this.route = route;
    if (route.pools.length === 0) return { status: 503, detail: route.note, retryAfter: 5, counts: false };
    const pool = this.#plane.pools.pick(route.pools, this.#tried);
    if (pool === null) {
      if (route.app === PLATFORM) return { status: 503, detail: route.note, retryAfter: 5, counts: true };
      return this.timedOut
        ? failure(504, 'The app did not take the connection in time.')
        : failure(502, 'The app could not be reached.');
    }
    this.#pool = pool;
    pool.enter();
    return pool.acquire(applicant, { careful: !this.idempotent, fresh }, this.#plane.deadlines.now) ? null : BUSY;
  }

  /** The unit asked last did not take the connection. */
  refused(): void {
    this.#pool?.refused(this.#plane.deadlines.now);
    this.passOver();
  }

  /** The unit asked last is not asked again. */
  passOver(): void {
    if (this.#pool !== null) this.#tried = (this.#tried ?? new Set()).add(this.#pool);
    this.leave();
  }

  /** Gives a connection back for others to use. */
  giveBack(unit: UnitConnection, keepAliveSeconds: number | null): void {
    unit.pool.release(unit, this.#plane.deadlines.now, keepAliveSeconds);
  }

  /** The request is no longer this unit's, nor does it wait for it. */
  leave(applicant: Applicant | null = null): void {
    const pool = this.#pool;
    this.#pool = null;
    if (applicant !== null) pool?.forget(applicant);
    pool?.leave();
  }

  /** The unit's pool is told by the tunnel that the request has become. */
  handOver(): void {
    this.#pool = null;
  }
}
