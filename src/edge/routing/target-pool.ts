import type { Target } from '../../domain/routes/router.ts';
import type { EdgeProxySettings } from '../proxy/settings.ts';
import type { UnitUser } from '../proxy/unit-connection.ts';
import { UnitConnection } from '../proxy/unit-connection.ts';
import { ListenerProof } from './listener-proof.ts';
import { stickyToken } from './sticky-cookie.ts';

/** A request in search of a connection. */
export interface Applicant extends UnitUser {
  /** The group of its client's address: what of it is in the way of others is taken together. */
  readonly clientGroup: string;
  /** May be called from within acquire(). `reused`: others have used the connection before. */
  unitGranted(unit: UnitConnection, reused: boolean): void;
  /** The target has left the table while the request waited. */
  unitWithdrawn(): void;
  giveWay(): void;
}

/** An upgraded connection. */
export interface Closable {
  close(): void;
}

/** A target that refused a connection is not asked again for so long while others can be asked. */
const DOWN_MS = 1_000;
/** A part of all connections, or of the queue, that only one address with very many requests has. */
const MUCH = 1 / 4;
/** So many connections are made free at a time. */
const ROOM = 32;
/** A request that must not be sent twice only takes a connection that was in use this recently. */
const FRESH_MS = 1_000;

/** The connections to one target: those in use, those kept for later, and who waits for one. */
export class TargetPool {
  readonly target: Target;
  /** Null where nobody else can listen at its address. */
  readonly proof: ListenerProof | null;
  /** Requests on this target, those still waiting included. */
  inFlight = 0;
  retired = false;
  /** Upgraded connections. They end when the unit or the client ends them, whether the target is in the table or not. */
  readonly #tunnels = new Set<Closable>();
  /** Called when the last request has left, and when the last upgraded connection has. */
  onIdle: () => void = () => {};
  readonly #settings: EdgeProxySettings;
  readonly #idle: UnitConnection[] = [];
  readonly #connecting = new Set<UnitConnection>();
  /** Those that count against the limit, the oldest first. */
  readonly #counted = new Set<UnitConnection>();
  readonly #waiting: Applicant[] = [];
  #token: string | null = null;
  #open = 0;
  #downUntil = 0;

  constructor(target: Target, settings: EdgeProxySettings) {
    this.target = target;
    this.proof = target.process === undefined ? null : new ListenerProof(target);
    this.#settings = settings;
  }

  /** By which a client is known to have been here. */
  get token(): string {
    this.#token ??= stickyToken(this.target.unit);
    return this.#token;
  }

  isDown(now: number): boolean {
    return this.#downUntil > now;
  }

  refused(now: number): void {
    this.#downUntil = now + DOWN_MS;
  }

  /** What it has to do at the moment. */
  get load(): number {
    return this.inFlight + this.#tunnels.size;
  }

  enter(): void {
    this.inFlight++;
  }

  leave(): void {
    if (--this.inFlight === 0) this.onIdle();
  }

  /** Grants a connection now or later; false when the queue is full. `careful`: see FRESH_MS; `fresh`: a new one. */
  acquire(applicant: Applicant, how: { careful: boolean; fresh: boolean }, now: number): boolean {
    const pooled = how.fresh ? null : this.#takeIdle(now, how.careful);
    if (pooled !== null) {
      pooled.user = applicant;
      applicant.unitGranted(pooled, true);
      return true;
    }
    if (this.#open < this.#settings.limits.connectionsPerTarget) {
      this.#connect(applicant);
      return true;
    }
    // At the limit, a kept connection that is too old for this request makes room for a new one (see lost).
    this.#idle.shift()?.destroy();
    if (this.#waiting.length >= this.#settings.limits.queuePerTarget && !this.#makePlaceFor(applicant)) return false;
    this.#waiting.push(applicant);
    return true;
  }

  /** The applicant no longer waits. */
  forget(applicant: Applicant): void {
    const at = this.#waiting.indexOf(applicant);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** Takes a connection back after a whole exchange. */
  release(unit: UnitConnection, now: number, keepAliveSeconds: number | null): void {
    if (unit.closed) return;
    const next = this.retired ? undefined : this.#waiting.shift();
    if (next !== undefined) {
      unit.user = next;
      next.unitGranted(unit, true);
      return;
    }
    unit.user = null;
    const own = this.#settings.timeouts.unitIdleMs;
    const idleMs = keepAliveSeconds === null ? own : Math.min(own, keepAliveSeconds * 1_000 - 1_000);
    if (this.retired || idleMs <= 0 || this.#idle.length >= this.#settings.limits.idlePerTarget) {
      unit.destroy();
      return;
    }
    unit.idleSince = now;
    unit.idleUntil = now + idleMs;
    this.#idle.push(unit);
  }

  /** The request has become an upgraded connection, which no longer counts against the limit. */
  detach(unit: UnitConnection, tunnel: Closable): void {
    unit.detached = true;
    this.#counted.delete(unit);
    this.#tunnels.add(tunnel);
    this.#open--;
    this.#serveWaiting();
    this.leave();
  }

  /** An upgraded connection has ended. */
  tunnelEnded(tunnel: Closable): void {
    if (this.#tunnels.delete(tunnel) && this.#tunnels.size === 0) this.onIdle();
  }

  /** A new connection has been taken. */
  connected(unit: UnitConnection): void {
    this.#connecting.delete(unit);
  }

  /** A connection has closed; called once per connection. */
  lost(unit: UnitConnection): void {
    this.#connecting.delete(unit);
    this.#counted.delete(unit);
    const at = this.#idle.indexOf(unit);
    if (at >= 0) this.#idle.splice(at, 1);
    if (unit.detached) return;
    this.#open--;
    this.#serveWaiting();
  }

  /** Closes what has been idle for too long, and makes room where requests wait. To be called several times a second. */
  expire(now: number): void {
    if (this.#waiting.length > 0) this.#makeRoom();
    while (this.#idle.length > 0 && (this.#idle[0] as UnitConnection).idleUntil <= now) this.#idle.shift()?.destroy();
  }

  closeTunnels(): void {
    for (const tunnel of [...this.#tunnels]) tunnel.close();
  }

  /**
   * The target has left the table: nothing new, idle connections closed at once, what is in flight goes on. A request whose connection
   * is not made yet looks for another target: nobody may answer at the address any more, not even with a refusal.
   */
  retire(): void {
    this.retired = true;
    for (const unit of this.#idle.splice(0)) unit.destroy();
    for (const unit of this.#connecting) unit.destroy();
    for (const applicant of this.#waiting.splice(0)) applicant.unitWithdrawn();
  }

  /** The target is back in the table. */
  revive(): void {
    this.retired = false;
  }

  #takeIdle(now: number, careful: boolean): UnitConnection | null {
    const last = this.#idle.at(-1);
    if (last === undefined || last.idleUntil <= now || (careful && now - last.idleSince > FRESH_MS)) return null;
    this.#idle.pop();
    return last;
  }

  #connect(applicant: Applicant): void {
    this.#open++;
    const unit = new UnitConnection(this, applicant);
    this.#connecting.add(unit);
    this.#counted.add(unit);
    applicant.unitGranted(unit, false);
  }

  /** Of clients at one address that hold many connections, and do not take their answers, some end when others wait. */
  #makeRoom(): void {
    const users = [...this.#counted].flatMap(({ user }) => (user?.heldUpBy == null ? [] : [user]));
    const most = largestGroup(users, ({ heldUpBy }) => heldUpBy ?? '');
    if (most.length < this.#settings.limits.connectionsPerTarget * MUCH) return;
    if (this.#waiting.every(({ clientGroup }) => clientGroup === most[0]?.heldUpBy)) return;
    for (const user of most.slice(0, ROOM)) user.giveWay?.();
  }

  /** All places of the queue are taken: somebody at the address of which most are waiting leaves it, unless the applicant is there, too. */
  #makePlaceFor({ clientGroup }: Applicant): boolean {
    const most = largestGroup(this.#waiting, (one) => one.clientGroup);
    const last = most.at(-1);
    if (last === undefined || last.clientGroup === clientGroup) return false;
    if (most.length < this.#settings.limits.queuePerTarget * MUCH) return false;
    this.forget(last);
    last.giveWay();
    return true;
  }

  #serveWaiting(): void {
    if (this.retired || this.#open >= this.#settings.limits.connectionsPerTarget) return;
    const next = this.#waiting.shift();
    if (next !== undefined) this.#connect(next);
  }
}

function largestGroup<T>(all: readonly T[], groupOf: (one: T) => string): readonly T[] {
  let largest: readonly T[] = [];
  for (const group of Map.groupBy(all, groupOf).values()) if (group.length > largest.length) largest = group;
  return largest;
}
