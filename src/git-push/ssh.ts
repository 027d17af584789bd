/**
 * The SSH door: `git push ssh://git@<host>:<port>/<app>.git`. Speaks git and nothing else: no shell, no forwarding, no
 * passwords, any user name. What a push means is decided in pushes.ts.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Server } from 'ssh2';
import { AT_ONCE, CallerPlaces } from '../domain/at-once.ts';
import type { RefusalLog } from '../domain/audit/audit.ts';
import type { Users } from '../domain/users/users.ts';
import { descriptorOf, listeningAt, type ListenPlace } from '../lib/listening.ts';
import type { Logger } from '../lib/logger.ts';
import { speedUp } from '../lib/small-start.ts';
import { loadHostKey } from './host-key.ts';
import type { GitSessions } from './sessions.ts';
import { Visitors } from './ssh-visitors.ts';

interface SshDoorOptions {
  readonly listen: ListenPlace;
  /** Until it resolves people log in, and commands wait for a while. Absent: they do not. */
  readonly opened?: Promise<void>;
  /** Made at the first start. */
  readonly hostKeyFile: string;
  /** Absent: what is in the file. */
  readonly hostKey?: string;
  readonly users: Pick<Users, 'bySshKey'>;
  /** Notified of connections that end without a login. */
  readonly audit: RefusalLog;
  readonly sessions: GitSessions;
  readonly logger: Logger;
  /** Milliseconds a connection may take to show a known key. */
  readonly authTimeoutMs?: number;
  /** Connections of one user at a time. */
  readonly mostConnectionsOfUser?: number;
  /** Milliseconds a command waits for the end of the start. */
  readonly startPatienceMs?: number;
}

export interface SshDoor {
  readonly address: { readonly host: string; readonly port: number };
  /** Of the listener at that address. */
  readonly descriptor: number;
  /** Takes no more connections, ends those there are (a running push is cancelled) and waits for them. */
  close(): Promise<void>;
}

const KEEPALIVE_MS = 15_000;
const SILENCE_MS = 4 * KEEPALIVE_MS;

export async function createSshDoor(options: SshDoorOptions): Promise<SshDoor> {
  const { listen, users, audit, sessions, logger } = options;
  const hostKey = options.hostKey ?? (await loadHostKey(options.hostKeyFile));
  const sockets = new Set<Socket>();
  const visitors = new Visitors(options);
  const places = new CallerPlaces(options.mostConnectionsOfUser ?? AT_ONCE.sshConnections, 'SSH connections');
  const running = new Set<Promise<void>>();
  let protocol: Server | null = null;

  async function serve(socket: Socket): Promise<void> {
    // With the first connection: until then its memory would be for nothing.
    const { createSshProtocol } = await import('./ssh-protocol.ts');
    protocol ??= createSshProtocol({
      ...{ hostKey, users, audit, sessions, places, logger, keepaliveMs: KEEPALIVE_MS },
      opened: options.opened ?? Promise.resolve(),
      ...(options.startPatienceMs !== undefined && { startPatienceMs: options.startPatienceMs }),
      loggedIn: (address, port) => visitors.loggedIn(address, port),
      track(work) {
        running.add(work);
        void work.finally(() => running.delete(work));
      },
    });
    if (!socket.destroyed) protocol.injectSocket(socket);
  }

  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
    if (!visitors.enter(socket)) return;
    speedUp();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A client that is still there answers keep-alive messages.
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    // Nobody else hears of an error before the protocol has the socket.
    socket.on('error', () => {});
    serve(socket).catch((error: unknown) => {
      logger.error({ err: error }, 'ssh door');
      socket.destroy();
    });
  });
  await listeningAt(server, listen);
  server.on('error', (error) => logger.error({ err: error }, 'ssh door'));

  const { address, port } = server.address() as AddressInfo;
  return {
    address: { host: address, port },
    descriptor: descriptorOf(server),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await Promise.all([closed, ...running]);
    },
  };
}
