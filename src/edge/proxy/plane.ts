import type { Deadlines } from './deadlines.ts';
import type { AccessLog } from './access-log.ts';
import type { HeldRequests } from './held-requests.ts';
import type { LiveTable } from '../routing/route-table.ts';
import type { LiveCertificates } from '../tls/live-certificates.ts';
import type { EdgeProxySettings } from './settings.ts';
import type { KeyedCounter } from '../../lib/keyed-counter.ts';
import type { TrustedProxies } from '../../lib/trusted-proxies.ts';
import type { UploadPermits } from './upload-permits.ts';
import type { TargetPools } from '../routing/target-pools.ts';

/** What every connection of this process sees of the whole. */
export interface Plane {
  readonly settings: EdgeProxySettings;
  readonly deadlines: Deadlines;
  readonly pools: TargetPools;
  readonly proxies: TrustedProxies;
  readonly uploads: UploadPermits;
  readonly held: HeldRequests;
  /** Requests of HTTP/2 that are under way, by the group of the client's address. */
  readonly streams: KeyedCounter;
  readonly accessLog: AccessLog;
  /** Replaced as a whole; look it up anew for each request. */
  table: LiveTable;
  /** Replaced as a whole, as the table is. */
  certificates: LiveCertificates;
  /** Port of the public listener. */
  port: number;
  /** Port of the public listener for TLS; 0 when there is none. */
  tlsPort: number;
  /** Answers say that their connection ends with them. */
  draining: boolean;
  /** No further request on any connection. */
  stopping: boolean;
}
