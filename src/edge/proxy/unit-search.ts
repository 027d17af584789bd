import { PLATFORM_ROUTE } from '../routing/platform-route.ts';
import type { LiveRoute } from '../routing/route-table.ts';
import type { Applicant, TargetPool } from '../routing/target-pool.ts';
import { cookieLine, tokenIn } from '../routing/sticky-cookie.ts';
import type { Plane } from './plane.ts';
import type { RoutedRequest } from './routed-request.ts';
import { maintenanceRefusal, ruledOut } from './route-rules.ts';
import { BUSY, HELD_TOO_LONG, failure, noApp, type RefusedRequest } from './refusals.ts';
import type { UnitConnection } from './unit-connection.ts';

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE', 'PROPFIND', 'REPORT', 'SEARCH']);

interface Hold {
  readonly forMs: number;
  /** See HeldRequests. */
  readonly isUnreached: boolean;
  /** The answer where no more may wait. */
  readonly tooMany: RefusedRequest;
  readonly tooLate: RefusedRequest;
}

/** Which unit is asked next on behalf of one request; it counts as in flight there from then until leave(). */
export class UnitSearch {
  /** By the newest table looked at. */
  route: LiveRoute;
  /** A connection could not be made in time. */
  timedOut = false;
  /** Milliseconds for which the request may wait for the app to be served again; 0: it does not. */
  heldForMs = 0;
  /** The answer when it may wait no longer. */
  tooLate = BUSY;
  readonly idempotent: boolean;
  readonly #plane: Plane;
  readonly #request: RoutedRequest;
  /** Where it waits. */
  #heldBy = '';
  /** A unit has refused a connection, or has not taken it in time. */
  #isRefused = false;
  #pool: TargetPool | null = null;
  #tried: Set<TargetPool> | null = null;

  constructor(plane: Plane, request: RoutedRequest) {
    this.#plane = plane;
    this.#request = request;
    this.idempotent = IDEMPOTENT.has(request.head.method);
    this.route = request.route;
  }

  /**
   * Asks for a connection to the best unit not tried yet, `fresh`: a new one. The applicant hears of it by
   * unitGranted(), maybe before this returns. Returns why not when there is none to ask.
   */
  next(applicant: Applicant, fresh: boolean): RefusedRequest | null {
    const host = this.#request.head.host.name;
    const route = this.#plane.table.match(host);
    if (route === null) return noApp(host, this.#plane.table);
    this.route = route;
    this.heldForMs = 0;
    this.tooLate = BUSY;
    if (route.rules !== null) {
      const refusal = maintenanceRefusal(route.rules);
      if (refusal !== null) return refusal;
      if (isHeld(route)) {
        const forMs = (route.rules.hold?.seconds ?? 0) * 1_000;
        const tooMany = { ...BUSY, counts: false };
        return this.#hold(applicant, { forMs, isUnreached: false, tooMany, tooLate: HELD_TOO_LONG });
      }
    }
    if (route.pools.length === 0) return { status: 503, detail: route.note, retryAfter: 5, counts: false };
    const pool = this.#sameAsBefore() ?? this.#plane.pools.pick(route.pools, this.#tried);
    if (pool === null) {
      if (route.app === PLATFORM_ROUTE) return { status: 503, detail: route.note, retryAfter: 5, counts: true };
      return this.#unreached(applicant);
    }
    this.#pool = pool;
    pool.enter();
    return pool.acquire(applicant, { careful: !this.idempotent, fresh }, this.#plane.deadlines.now) ? null : BUSY;
  }

  /** What the app's rules have against the request, before any unit is asked. */
  get refusal(): RefusedRequest | null {
    const { rules } = this.route;
    return rules === null ? null : ruledOut(rules, this.route, this.#request.head, this.#plane.settings.workers);
  }

  /** The unit asked last; '' for none. */
  get unit(): string {
    return this.#pool?.target.unit ?? '';
  }

  /** Bytes of a body that the app takes. */
  get mostBodyBytes(): number {
    return this.route.rules?.maxBodyBytes ?? Number.POSITIVE_INFINITY;
  }

  /** The field line by which the client is known again; '' where it need not be, or is by now. */
  cookieFor(isSecure: boolean): string {
    const token = this.route.rules?.sticky === true ? this.#pool?.token : undefined;
    return token === undefined || token === tokenIn(this.#request.head.fields) ? '' : cookieLine(token, isSecure);
  }

  /** The unit that has answered the client before, if it can be asked. */
  #sameAsBefore(): TargetPool | null {
    if (this.route.rules?.sticky !== true) return null;
    const token = tokenIn(this.#request.head.fields);
    if (token === null) return null;
    const { now } = this.#plane.deadlines;
    return (
      this.route.pools.find((pool) => pool.token === token && !pool.isDown(now) && this.#tried?.has(pool) !== true) ??
      null
    );
  }

  /**
   * No unit is left to be asked. Where units take no connections their places may have been taken by others, which this edge learns late when its
   * server is away, or they listen again in a moment: what nobody has seen yet can wait for that, and then asks all units again.
   */
  #unreached(applicant: Applicant): RefusedRequest | null {
    const failed = this.timedOut
      ? failure(504, 'The app did not take the connection in time.')
      : failure(502, 'The app could not be reached.');
    if (!this.#isRefused) return failed;
    this.#tried = null;
    const forMs = this.#plane.settings.timeouts.unreachedMs;
    return this.#hold(applicant, { forMs, isUnreached: true, tooMany: failed, tooLate: failed });
  }

  /** Until the host has another route, the units are asked again, or its time is over, which is counted from the beginning of the request. */
  #hold(applicant: Applicant, { forMs, isUnreached, tooMany, tooLate }: Hold): RefusedRequest | null {
    const leftMs = forMs - (performance.now() - this.#request.begunAt);
    if (leftMs <= 0) return tooLate;
    const host = this.#request.head.host.name;
    if (!this.#plane.held.add(applicant, { host, route: this.route, isUnreached })) return tooMany;
    this.#heldBy = this.route.app;
    this.tooLate = tooLate;
    this.heldForMs = leftMs;
    return null;
  }

  /** The unit asked last did not take the connection. */
  refused(): void {
    this.#isRefused = true;
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
    if (applicant !== null) {
      pool?.forget(applicant);
      if (this.heldForMs > 0) this.#plane.held.forget(this.#heldBy, applicant);
    }
    pool?.leave();
  }

  /** The request has become a tunnel, which reports to the unit's pool itself. */
  handOver(): void {
    this.#pool = null;
  }
}

function isHeld({ rules, pools }: LiveRoute): boolean {
  const when = rules?.hold?.when;
  return when === 'always' || (when === 'unserved' && pools.length === 0);
}
