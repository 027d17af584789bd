import type { ListenOptions, Server } from 'node:net';

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export function listening(server: Server, options: ListenOptions): Promise<void> {
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
