/** Connections to an address of this machine go on to another one, which is chosen for each. */
import { connect, createServer, type Socket } from 'node:net';
import { listening } from '../../src/lib/listening.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Null: there is nobody, and the connection is reset. What it answers ends all of it. */
export async function forward(at: Target, choose: () => Target | null): Promise<() => Promise<void>> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const target = choose();
    if (target === null) return void socket.resetAndDestroy();
    const onward = connect({ ...target, allowHalfOpen: true, noDelay: true });
    join(socket, onward);
    join(onward, socket);
  });
  function join(from: Socket, to: Socket): void {
    open.add(from);
    from.on('error', () => to.resetAndDestroy());
    from.once('close', () => open.delete(from));
    from.pipe(to);
  }
  await listening(server, at);
  return async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
}
