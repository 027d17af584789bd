import type { Route, RouteTable } from '../../domain/routes/router.ts';

/** The platform's own API behind the edge: which names lead to it, and the socket where it takes requests from nobody else. */
export interface PlatformDoor {
  /** Lower case, no port. */
  readonly hosts: readonly string[];
  /** Absolute path. */
  readonly socket: string;
}

/** By this name its requests are counted; no app can have it. */
export const PLATFORM_ROUTE = 'tancho';

/** The table with the platform before all apps, so that none takes a name of its. */
export function withPlatform(table: RouteTable, door: PlatformDoor | null): RouteTable {
  if (door === null) return table;
  const route: Route = {
    app: PLATFORM_ROUTE,
    hosts: door.hosts,
    targets: [{ unit: PLATFORM_ROUTE, host: door.socket, port: 0 }],
    note: 'The platform itself does not answer just now; its apps are not concerned.',
    https: 'redirect',
  };
  return { version: table.version, routes: [route, ...table.routes.filter(({ app }) => app !== PLATFORM_ROUTE)] };
}
