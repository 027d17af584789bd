/** A way to a port of this machine whose connections can be cut, all in one moment, as a network would. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CutConnections {
  readonly port: number;
  /** Answers how many there were. */
  cut(): number;
  dispose(): Promise<void>;
}

export async function openWayTo(port: number): Promise<CutConnections> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const beyond = connect({ port, host: '127.0.0.1' });
    open.add(socket);
    const leave = (): void => {
      open.delete(socket);
      socket.destroy();
      beyond.destroy();
    };
    for (const one of [socket, beyond]) one.on('error', leave).on('close', leave);
    socket.pipe(beyond).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): number => {
    const count = open.size;
    for (const socket of [...open]) socket.resetAndDestroy();
    return count;
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    async dispose() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
