import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that the system gives out, so that nobody who takes any free one takes it first, and below those of units. */
const FROM = 10_000;
const COUNT = 9_000;

/** For programs that cannot be told to take any. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
