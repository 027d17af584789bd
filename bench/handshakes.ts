/** TLS handshakes, one after the other on so many connections at once; each connection is closed when its handshake is done. */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

export interface HandshakeOptions {
  readonly port: number;
  /** Server name that is asked for. */
  readonly name: string;
  /** With the ticket of an earlier connection; a server that does not take it is an error. */
  readonly isResumed: boolean;
  readonly connections: number;
  readonly seconds: number;
}

/** Resolves with how many were done. */
export async function shakeHands({ port, name, isResumed, connections, seconds }: HandshakeOptions): Promise<number> {
  const options = { port, host: '127.0.0.1', servername: name, rejectUnauthorized: false };
  const session = isResumed ? await ticketOf(connect(options)) : undefined;
  const endAt = performance.now() + seconds * 1_000;
  let count = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const socket = connect({ ...options, ...(session !== undefined && { session }) });
      await once(socket, 'secureConnect');
      if (socket.isSessionReused() !== isResumed) throw new Error('the server decided otherwise about the ticket');
      socket.destroy();
      count++;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return count;
}

/** TLS 1.3 sends tickets after the handshake. */
async function ticketOf(socket: TLSSocket): Promise<Buffer> {
  const [session] = (await once(socket, 'session')) as [Buffer];
  socket.destroy();
  return session;
}
