import type { ListenOptions, Server, Socket } from 'node:net';

/** An address to listen on; with `fd` it is bound already, by that descriptor. */
export interface ListenPlace {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly fd?: number | undefined;
}

export function listeningAt(server: Server, { host, port, fd }: ListenPlace): Promise<void> {
  return listening(server, fd === undefined ? { host, port } : { fd });
}

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export function listening(server: Server, options: ListenOptions | { readonly fd: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** At a unix socket that only this user can open, from the first moment on. */
export function listeningPrivately(server: Server, path: string): Promise<void> {
  // The socket is made before listen() returns, so nothing else gets this mask.
  const before = process.umask(0o177);
  try {
    return listening(server, { path });
  } finally {
    process.umask(before);
  }
}

/** To hand on to a process that is started in the turn of the event loop in which the server was bound: nothing is accepted here then. */
export function descriptorOf(server: Server | Socket): number {
  // Node has no public name for it; a libuv handle on POSIX has it.
  const handle: unknown = Reflect.get(server, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  if (typeof fd !== 'number' || fd < 0) throw new Error('this Node does not give the descriptor of a socket');
  return fd;
}
