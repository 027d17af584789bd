/** In place of the edge of this machine, where there is none: requests come in over edges elsewhere alone, so here nobody is served and nothing is waited for. */
import { NO_TRAFFIC, ofEach } from '../../../domain/routes/counted-apps.ts';
import type { CertificatesInForce, Router, RouteTable } from '../../../domain/routes/router.ts';
import { hostPort } from '../../../lib/host-port.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { edgeFromFile, endEdge } from './edge-process.ts';

/** For requests that have begun, of an edge that is there no more. */
const LEFT_MS = 15_000;

/** `listen`, `tls`: where edges elsewhere answer, to show to people. Ends the edge that this home may have had. */
export async function openNoEdge({
  listen,
  tls = null,
  ...places
}: Pick<EdgeRouterOptions, 'stateDir' | 'runDir' | 'listen' | 'tls'>): Promise<Router> {
  const left = await edgeFromFile(places);
  if (left !== null) await endEdge(left, LEFT_MS);
  return createNoEdge({ listen: hostPort(listen), tlsListen: tls === null ? null : hostPort(tls) });
}

function createNoEdge(addresses: Pick<Router, 'listen' | 'tlsListen'>): Router {
  let table: RouteTable = { version: 0, routes: [] };
  let certificates: CertificatesInForce = { version: 0, ids: [], unusable: [] };
  return {
    name: 'edge',
    ...addresses,
    async apply(next) {
      if (next.version > table.version) table = next;
    },
    table: () => Promise.resolve(table),
    async applyCertificates({ version, certificates: all }) {
      if (version > certificates.version) certificates = { version, ids: all.map(({ id }) => id), unusable: [] };
    },
    certificates: () => Promise.resolve(certificates),
    drained: () => Promise.resolve(0),
    traffic: () => Promise.resolve(NO_TRAFFIC),
    trafficOf: (apps) => Promise.resolve(ofEach(apps, [])),
    takeAccessLog: () => Promise.resolve([]),
    leave: () => Promise.resolve(),
    close: () => Promise.resolve(),
    stop: () => Promise.resolve(),
  };
}
