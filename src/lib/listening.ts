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
