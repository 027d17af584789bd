/** The HTTP listeners of the API: TCP, and a unix socket that only the owner of the machine can open. */
import { lstat, unlink } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PlatformError } from '../domain/errors.ts';
import { hostPort } from '../lib/host-port.ts';
import { listeningAt, listeningPrivately, type ListenPlace } from '../lib/listening.ts';
import { createServer } from '../lib/node-http.ts';
import { portUser } from '../lib/port-user.ts';
import { speedUp } from '../lib/small-start.ts';
import { isSocketTaken } from '../lib/socket-problem.ts';
import type { TrustedProxies } from '../lib/trusted-proxies.ts';
import { limitConnections } from './connection-limits.ts';

export interface Listen {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const HEADERS_TIMEOUT_MS = 15_000;
const TIMEOUTS_CHECK_MS = 5_000;
const IDLE_CHECK_MS = 50;
const KEEP_ALIVE_MS = 72_000;
/** After so long a silence the kernel asks whether the client is still there. */
const PROBE_MS = 30_000;
/** Longest path of a unix socket on Linux, without the closing zero. */
const MAX_SOCKET_PATH = 107;

export interface Handlers {
  readonly request: RequestListener;
  /** Offered every request that wants to change the protocol; true when it has taken the socket. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
}

interface Patience {
  /** For the whole head of a request. */
  readonly headersTimeoutMs?: number;
  readonly timeoutsCheckMs?: number;
}

/** Throws PlatformError `config.invalid` when the address cannot be had. */
export async function listenOnTcp(
  handler: Handlers,
  listen: ListenPlace,
  proxies: TrustedProxies,
  patience: Patience = {},
): Promise<{ server: Server; address: Listen }> {
  const server = httpServer(handler, proxies, patience);
  await opened(listeningAt(server, listen), listen, 'TANCHO_API_LISTEN');
  const { address, port } = server.address() as AddressInfo;
  return { server, address: { host: address, port } };
}

/** Mode 0600 from the first moment; a socket that nobody answers any more is replaced. */
export async function listenOnSocket(handler: Handlers, path: string): Promise<Server> {
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
    throw new PlatformError('config.invalid', `The path of the socket is too long: ${path}`, {
      hint: 'Choose a shorter TANCHO_HOME.',
    });
  }
  await removeStale(path);
  const server = httpServer(handler, null);
  await opened(listeningPrivately(server, path), path, 'TANCHO_HOME');
  return server;
}

/** Sockets that speak another protocol by now. Node waits for them at the end of their server, and closes none. */
const upgraded = new WeakMap<Server, Set<Duplex>>();

/** Takes no new requests, gives those under way, and what they have become, `graceMs`, then cuts the rest off. */
export async function closeServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const timer = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of upgraded.get(server) ?? []) socket.destroy();
  }, graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(timer);
}

/** `proxies`: null where nobody but the owner of the machine can connect. */
function httpServer(
  handlers: Handlers,
  proxies: TrustedProxies | null,
  { headersTimeoutMs = HEADERS_TIMEOUT_MS, timeoutsCheckMs = TIMEOUTS_CHECK_MS }: Patience = {},
): Server {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: timeoutsCheckMs,
    requestTimeout: 0,
    // An answer may take minutes to begin: nothing in between shall take the connection for dead.
    keepAlive: true,
    keepAliveInitialDelay: PROBE_MS,
  });
  if (proxies !== null) limitConnections(server, proxies);
  server.once('connection', speedUp);
  server.on('request', handlers.request);
  const sockets = new Set<Duplex>();
  upgraded.set(server, sockets);
  server.on('upgrade', (request, socket, head) => {
    if (!handlers.upgrade(request, socket, head)) {
      server.emit('connection', withoutUpgrade(request, socket, head));
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('clientError', refuseUnreadable);
  return server;
}

const STATUS_OF_UNREADABLE: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Browsers open connections ahead. What is said on one that was never used is taken for the answer to the request that comes next: nothing is
 * said there, and 408 for a request that is late, which they know to send again.
 */
function refuseUnreadable({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const isUnused = isLate && socket instanceof Socket && socket.bytesRead === 0;
  if (code === 'ECONNRESET' || isUnused || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF_UNREADABLE[code] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n${status.slice(4)}\n`);
}

/** Whoever offers a protocol that is not spoken here is answered in plain HTTP: the request is read again without the offer. */
function withoutUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Duplex {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    if (!/^(?:upgrade|http2-settings)$/i.test(name)) lines.push(`${name}: ${withoutOffer(name, value)}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  return socket;
}

function withoutOffer(name: string, value: string): string {
  if (name.toLowerCase() !== 'connection') return value;
  const kept = value.split(',').filter((word) => !/^\s*(?:upgrade|http2-settings)\s*$/i.test(word));
  return kept.length === 0 ? 'keep-alive' : kept.join(',');
}

async function opened(opening: Promise<void>, place: ListenPlace | string, setting: string): Promise<void> {
  try {
    await opening;
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, place, setting);
  }
}

function cannotListen(error: NodeJS.ErrnoException, place: ListenPlace | string, setting: string): PlatformError {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'it is in use',
    EACCES: 'permission denied',
    EADDRNOTAVAIL: 'this machine does not have that address',
    ENOTFOUND: 'the host name is unknown',
  };
  const isPort = error.code === 'EADDRINUSE' && typeof place !== 'string';
  const reason = isPort
    ? `${portUser(place.port)} already listens there`
    : (reasons[error.code ?? ''] ?? error.message);
  return new PlatformError(
    'config.invalid',
    `The API cannot listen on ${typeof place === 'string' ? place : hostPort(place)}: ${reason}.`,
    {
      cause: error,
      hint: `Stop the program that uses it (an app: tancho server stop --all), or set ${setting} to something else.`,
    },
  );
}

async function removeStale(path: string): Promise<void> {
  let isSocket: boolean;
  try {
    isSocket = (await lstat(path)).isSocket();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (!isSocket || (await isSocketTaken(path))) {
    throw new PlatformError(
      'config.invalid',
      `${path} is ${isSocket ? 'the socket of a running server' : 'not a socket'}.`,
      {
        hint: isSocket ? 'Stop that server first, or use another TANCHO_HOME.' : 'Move the file away.',
      },
    );
  }
  await unlink(path);
}
