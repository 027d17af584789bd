import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that the system gives out, so that nobody who takes any free one takes it first, and below those of units. */
const FROM = 10_000;
const COUNT = 9_000;
/** Where this process begins, so that two of them hardly meet. */
const BEGIN = Math.floor(Math.random() * COUNT);
let given = 0;

/** For programs that cannot take any free one by themselves, or have to find theirs again. The same one is not given twice: who asked may not listen yet. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FROM + ((BEGIN + given++) % COUNT);
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
