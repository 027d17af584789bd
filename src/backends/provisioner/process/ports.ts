/** Chooses ports for units: free now, and not promised to another unit. */
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** Below the range from which the kernel takes the local ports of outgoing connections. */
export const DEFAULT_PORT_RANGE: PortRange = { from: 20_000, to: 29_999 };

/** Null when nothing in the range is free. */
export async function choosePort(range: PortRange, promised: ReadonlySet<number>): Promise<number | null> {
  const size = range.to - range.from + 1;
  const begin = randomInt(size);
  for (let step = 0; step < size; step += 1) {
    const port = range.from + ((begin + step) % size);
    if (!promised.has(port) && (await isFree(port))) return port;
  }
  return null;
}

export async function isFree(port: number): Promise<boolean> {
  const free = await canListen(port, '::');
  return free === 'no-family' ? (await canListen(port, '0.0.0.0')) === 'yes' : free === 'yes';
}

async function canListen(port: number, host: string): Promise<'yes' | 'no' | 'no-family'> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL' ? 'no-family' : 'no');
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve('yes')));
  });
}
