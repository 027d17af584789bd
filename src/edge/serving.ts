import type { AppTraffic, RouteTable } from '../domain/routes/router.ts';

/** What serves apps: one process (DataPlane) or several (WorkerGroup); the rest of the edge cannot tell. */
export interface Serving {
  /** Accepts from a bound listener of this process. Resolves with its port. */
  listen(listener: { readonly fd: number }): Promise<number>;
  /** Resolves when every request that begins from now on goes by this table. */
  apply(table: RouteTable): Promise<void>;
  /** See domain/routes/router.ts. */
  drained(units: readonly string[], timeoutMs: number): Promise<number>;
  traffic(app: string): Promise<AppTraffic>;
  /**
   * Takes no new connection and tells the clients of those there are, with their next answer, to close them. Resolves when
   * none is left, or after `boundMs`.
   */
  drain(boundMs: number): Promise<void>;
  /** Takes no new connection, lets requests finish for at most `graceMs`, closes the rest. */
  stop(graceMs: number): Promise<void>;
}
