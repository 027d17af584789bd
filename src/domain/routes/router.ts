/**
 * Contract: brings requests to units. Implementations live in backends/router/<name> and pass
 * backends/router/conformance.ts. A router takes whole tables only: each apply() replaces what was there, atomically.
 */
import type { Address } from '../units/unit.ts';

export interface Target extends Address {
  /** The unit's id. */
  readonly unit: string;
}

export interface Route {
  readonly app: string;
  /** Lower-case host names, without port. A `*.` prefix matches one label. */
  readonly hosts: readonly string[];
  /** Empty: the app exists but nothing serves; requests are answered 503 with the reason. */
  readonly targets: readonly Target[];
  /** Shown when targets is empty: why, in one sentence (`This app has not been deployed yet.`). */
  readonly note: string;
}

export interface RouteTable {
  /** Grows with every change; a router that has seen a newer one ignores an older. */
  readonly version: number;
  readonly routes: readonly Route[];
}

export interface AppTraffic {
  /** Requests answered since the router started. */
  readonly requests: number;
  /** Requests the router itself had to fail (no target, connection refused or lost before an answer, time-out). */
  readonly failures: number;
}

export interface Router {
  readonly name: string;
  /** `host:port` where apps are reached, as bound (so `:0` is resolved). */
  readonly listen: string;
  /** Resolves when every worker routes by the new table. Idempotent. */
  apply(table: RouteTable): Promise<void>;
  /** The table that is in force; version 0 before the first. */
  table(): Promise<RouteTable>;
  /**
   * Resolves when no request is in flight to these units, or after `timeoutMs`: then with the number still open. Upgraded connections
   * (websockets) are not waited for, and stay until the unit ends them: that is what it has its grace for.
   */
  drained(units: readonly string[], timeoutMs: number): Promise<number>;
  traffic(app: string): Promise<AppTraffic>;
  /** Lets go of the router; it goes on serving (see stop). */
  close(): Promise<void>;
  /** Ends the router itself, for a full stop of the platform. */
  stop(): Promise<void>;
}
