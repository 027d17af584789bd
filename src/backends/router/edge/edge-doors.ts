/** The addresses that an edge listens on: which of them it has, and binding those it has not. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { PlatformError } from '../../../domain/errors.ts';
import { hostPort, portOf } from '../../../lib/host-port.ts';
import { portUser } from '../../../lib/port-user.ts';
import { listening } from '../../../lib/listening.ts';
import type { EdgeRouterOptions } from './edge-options.ts';

const BACKLOG = 1_024;
const POLL_MS = 10;

/** As bound. */
export interface BoundPorts {
  readonly port: number;
  /** Of no meaning where no TLS is spoken. */
  readonly tlsPort: number;
}

/** An address to listen on, and the setting that says which. */
export interface EdgeDoor {
  readonly host: string;
  readonly port: number;
  readonly variable: string;
}

export interface EdgeDoors {
  readonly plain: EdgeDoor;
  /** Null: TLS is spoken nowhere. */
  readonly tls: EdgeDoor | null;
}

export function doorsOf(
  { listen, tls }: Pick<EdgeRouterOptions, 'listen' | 'tls'>,
  { port, tlsPort }: BoundPorts,
): EdgeDoors {
  return {
    plain: { host: listen.host, port, variable: 'TANCHO_EDGE_LISTEN' },
    tls: tls === null || tls === undefined ? null : { host: tls.host, port: tlsPort, variable: 'TANCHO_TLS_LISTEN' },
  };
}

/** What an edge says of its addresses. */
export interface Bound {
  readonly host: string;
  readonly bound: string;
  /** Absent in edges that know nothing of TLS. */
  readonly tlsHost?: string | null;
  readonly tlsBound?: string | null;
}

/** What an edge says of itself. */
export interface Hello extends Bound {
  readonly pid: number;
  readonly fingerprint: string;
  readonly version: number;
  /** It binds addresses for the edge that takes over from it; absent in those that hand on only what they have. */
  readonly binds?: boolean;
  /** It follows servers elsewhere, and has an edge take over that does; absent in those that do not know how. */
  readonly follows?: boolean;
}

export function portsOf({ bound, tlsBound }: Bound): BoundPorts {
  return { port: portOf(bound), tlsPort: tlsBound ? portOf(tlsBound) : 0 };
}

interface Standing {
  /** Whether the edge listens there already. */
  readonly plain: boolean;
  readonly tls: boolean;
}

/** A port 0 stands for any. */
export function standing({ plain, tls }: EdgeDoors, edge: Bound): Standing {
  const isAt = (door: EdgeDoor, host: string, bound: string): boolean =>
    host === door.host && (door.port === 0 || door.port === portOf(bound));
  const { tlsHost, tlsBound } = edge;
  return {
    plain: isAt(plain, edge.host, edge.bound),
    tls: tls === null ? !tlsBound : !!tlsHost && !!tlsBound && isAt(tls, tlsHost, tlsBound),
  };
}

/** Binds all of them, trying busy ones again for so long. Throws `config.invalid` when one cannot be had. */
export async function boundFor(doors: readonly EdgeDoor[], patienceMs: number): Promise<readonly Server[]> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const servers = doors.map(() => createServer((socket) => socket.destroy()));
    const tried = await Promise.all(doors.map((door, index) => tryBinding(servers[index] as Server, door)));
    const failed = tried.findIndex((error) => error !== null);
    if (failed < 0) return servers;
    for (const server of servers) server.close();
    const error = tried[failed];
    if (!isBusy(error) || performance.now() > deadline) throw bindFailure(error, doors[failed] as EdgeDoor);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function boundPort(server: Server | undefined): number {
  return (server?.address() as AddressInfo | null | undefined)?.port ?? 0;
}

async function tryBinding(server: Server, { host, port }: EdgeDoor): Promise<unknown> {
  return listening(server, { host, port, backlog: BACKLOG }).then(
    () => null,
    (error: unknown) => error,
  );
}

function isBusy(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}

function bindFailure(error: unknown, door: EdgeDoor): unknown {
  const address = hostPort(door);
  const set = `set ${door.variable} to another address`;
  const cause = { cause: error };
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new PlatformError(
        'config.invalid',
        `${sentence(portUser(door.port))} already listens on ${address}: end it or ${set}.`,
        cause,
      );
    case 'EACCES':
      return new PlatformError(
        'config.invalid',
        `This user may not listen on ${address}: ${set}, or start as root.`,
        cause,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new PlatformError('config.invalid', `${address} is no address of this machine: ${set}.`, cause);
    default:
      return error;
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
