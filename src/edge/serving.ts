import type { AccessEntry, AppTraffic, CertificatesInForce, RouteTable } from '../domain/routes/router.ts';
import type { TableChange } from '../domain/routes/table-change.ts';
import type { CountedApps } from '../domain/routes/counted-apps.ts';
import type { Presented } from './tls/live-certificates.ts';

export interface ServingListeners {
  readonly plain: { readonly fd: number };
  readonly tls: { readonly fd: number } | null;
}

export interface Ports {
  readonly port: number;
  /** 0: there is no TLS listener. */
  readonly tlsPort: number;
}

/** What serves apps: one process (DataPlane) or several (WorkerGroup); the rest of the edge does not know which. */
export interface Serving {
  /** Accepts from bound listeners of this process. */
  listen(listeners: ServingListeners): Promise<Ports>;
  /** Resolves when every request that begins from now on goes by this table. */
  apply(table: RouteTable): Promise<void>;
  /** As apply(); false, and nothing is changed, where another table is in force than the one that is changed. */
  change(change: TableChange): Promise<boolean>;
  /** Resolves when every handshake that begins from now on goes by these certificates. */
  present(presented: Presented): Promise<CertificatesInForce>;
  /** See domain/routes/router.ts. */
  drained(units: readonly string[], timeoutMs: number): Promise<number>;
  traffic(app: string): Promise<AppTraffic>;
  allTraffic(): Promise<CountedApps>;
  takeAccessLog(): Promise<readonly AccessEntry[]>;
  /** Says to whoever asks for its health that it is to end, and closes each connection with its next answer; new ones are taken as before. */
  leave(): Promise<void>;
  /**
   * Takes no new connection and asks the clients of those there are, with their next answer, to close them. Resolves when
   * none is left, or after `boundMs`.
   */
  drain(boundMs: number): Promise<void>;
  /** Takes no new connection, lets requests finish for at most `graceMs`, closes the rest. */
  stop(graceMs: number): Promise<void>;
}
