/** The connections to the SSH door: whoever has not logged in makes room for others, and has to do it soon. */
import type { Socket } from 'node:net';
import { ConnectionGate } from '../lib/connection-gate.ts';

const AUTH_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 512;
/** Whoever holds as many as there may be would keep everybody else out, without any key. */
const MAX_PER_ADDRESS = 128;

interface VisitorsOptions {
  /** Milliseconds a connection may take to show a known key. */
  readonly authTimeoutMs?: number;
}

interface Visitor {
  isWaiting: boolean;
  readonly late: NodeJS.Timeout;
  close(): void;
}

export class Visitors {
  readonly #authTimeoutMs: number;
  readonly #gate: ConnectionGate;
  readonly #byPeer = new Map<string, Visitor>();

  constructor({ authTimeoutMs = AUTH_TIMEOUT_MS }: VisitorsOptions) {
    this.#authTimeoutMs = authTimeoutMs;
    this.#gate = new ConnectionGate({ most: MAX_CONNECTIONS, mostPerAddress: MAX_PER_ADDRESS });
  }

  /** False for one that there is no room for: it has been closed. */
  enter(socket: Socket): boolean {
    const { remoteAddress = '', remotePort = 0 } = socket;
    const peer = peerOf(remoteAddress, remotePort);
    const late = setTimeout(() => socket.destroy(), this.#authTimeoutMs);
    const visitor: Visitor = { isWaiting: true, late, close: () => void socket.destroy() };
    const leave = this.#gate.enter(remoteAddress, visitor);
    if (leave === null) socket.destroy();
    else this.#byPeer.set(peer, visitor);
    socket.once('close', () => {
      clearTimeout(late);
      leave?.();
      if (this.#byPeer.get(peer) === visitor) this.#byPeer.delete(peer);
    });
    return leave !== null;
  }

  /** Whoever is at this end of a connection has shown a known key. */
  loggedIn(address: string, port: number): void {
    const visitor = this.#byPeer.get(peerOf(address, port));
    if (visitor === undefined) return;
    visitor.isWaiting = false;
    clearTimeout(visitor.late);
  }
}

function peerOf(address: string, port: number): string {
  return `${address} ${port}`;
}
