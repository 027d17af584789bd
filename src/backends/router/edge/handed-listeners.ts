/** What an edge that serves hands on to the one that takes over from it: the listeners that stay, and addresses to bind for it. */
import { isPlatformError } from '../../../domain/errors.ts';
import { portOf } from '../../../lib/host-port.ts';
import {
  type Bound,
  boundFor,
  boundPort,
  type EdgeDoor,
  type EdgeDoors,
  type BoundPorts,
  portsOf,
  standing,
} from './edge-doors.ts';

/** `ours`: of the edge that is asked; else an address that it binds. */
type HandedListener = 'ours' | { readonly host: string; readonly port: number };

interface Handed {
  readonly listeners: { readonly plain: HandedListener; readonly tls: HandedListener | null };
  /** Of the edge that gets them. */
  readonly host: string;
  readonly tls: { readonly host: string; readonly port: number } | null;
  readonly ports: BoundPorts;
}

export function sameAddresses(edge: Bound): Handed {
  const { host, tlsHost, tlsBound } = edge;
  const tls = tlsHost && tlsBound ? { host: tlsHost, port: portOf(tlsBound) } : null;
  return { listeners: { plain: 'ours', tls: tls === null ? null : 'ours' }, host, tls, ports: portsOf(edge) };
}

/**
 * Null where a new address collides with one that the edge itself has: it has to go first. Throws `config.invalid` where it collides with
 * anything else, before the edge is touched.
 */
export async function handedBy(edge: Bound, doors: EdgeDoors): Promise<Handed | null> {
  const { plain, tls } = doors;
  const is = standing(doors, edge);
  const others = [...(is.plain ? [] : [plain]), ...(tls === null || is.tls ? [] : [tls])];
  const tried = await tryAll(others, edge);
  if (tried === null) return null;
  const had = portsOf(edge);
  const ports = { port: tried.get(plain) ?? had.port, tlsPort: (tls && tried.get(tls)) ?? had.tlsPort };
  const secure = tls === null ? null : { host: tls.host, port: ports.tlsPort };
  return {
    listeners: {
      plain: is.plain ? 'ours' : { host: plain.host, port: ports.port },
      tls: secure !== null && is.tls ? 'ours' : secure,
    },
    host: plain.host,
    tls: secure,
    ports,
  };
}

/** Which port each has when it is bound, which it is only for a moment; null: one of them is an address of the edge's own. */
async function tryAll(doors: readonly EdgeDoor[], edge: Bound): Promise<ReadonlyMap<EdgeDoor, number> | null> {
  const own = new Set(Object.values(portsOf(edge)));
  try {
    const servers = await boundFor(doors, 0);
    const found = new Map(doors.map((door, index) => [door, boundPort(servers[index])]));
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    return found;
  } catch (error) {
    const isItsOwn = doors.some(({ port }) => port !== 0 && own.has(port));
    if (isItsOwn && isPlatformError(error, 'config.invalid')) return null;
    throw error;
  }
}
