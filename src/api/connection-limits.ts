/** Keeps connections on which nothing is asked from taking the API away from others. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConnectionGate, openFilesLimit } from '../lib/connection-gate.ts';
import type { TrustedProxies } from '../lib/trusted-proxies.ts';

/** A part of the files that the process may have open. */
const MOST = Math.min(4_096, Math.floor(openFilesLimit() / 4));
const MOST_PER_ADDRESS = Math.min(1_024, Math.floor(MOST / 2));

/** To be called before the server has handlers for requests. Connections of trusted proxies have the common limit only. */
export function limitConnections(
  server: Server,
  proxies: TrustedProxies,
  { most = MOST, mostPerAddress = MOST_PER_ADDRESS } = {},
): void {
  const gate = new ConnectionGate({ most, mostPerAddress });
  const requests = new WeakMap<Duplex, number>();
  const count = (socket: Duplex, change: number): void =>
    void requests.set(socket, (requests.get(socket) ?? 0) + change);
  server.on('connection', (socket: Socket) => {
    // One that has offered a protocol which is not spoken here is read again: its request is counted when it comes for good.
    const isReadAgain = requests.has(socket);
    requests.set(socket, 0);
    if (isReadAgain) return;
    const address = socket.remoteAddress ?? 'unknown';
    const connection = {
      get isWaiting() {
        return requests.get(socket) === 0 && !socket.destroyed;
      },
      close: () => void socket.destroy(),
    };
    const leave = gate.enter(proxies.trusts(address) ? null : address, connection);
    if (leave === null) socket.destroy();
    else socket.once('close', leave);
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    count(socket, 1);
    response.once('close', () => count(socket, -1));
  });
  server.on('upgrade', ({ socket }: IncomingMessage) => count(socket, 1));
}
