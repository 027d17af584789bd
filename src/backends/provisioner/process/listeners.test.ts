import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listenersOf, parseListeners } from './listeners.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const row = (local: string, state = '0A'): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n`;

describe('parseListeners', () => {
  it.each([
    ['00000000:1F90', 'any'],
    ['0100007F:1F90', 'loopback'],
    ['0A00020F:1F90', 'other'],
    ['00000000000000000000000000000000:1F90', 'any'],
    ['00000000000000000000000001000000:1F90', 'loopback'],
    ['0000000000000000FFFF00000100007F:1F90', 'loopback'],
    ['0000000000000000FFFF00000A00020F:1F90', 'other'],
    ['0000000000000000FFFF000000000000:1F90', 'any'],
  ])('reads %s as %s', (local, reach) => {
    expect(parseListeners(HEAD + row(local))).toEqual([{ reach, port: 8080, inode: '4711' }]);
  });

  it('leaves out what does not listen', () => {
    expect(parseListeners(HEAD + row('0100007F:1F90', '01'))).toEqual([]);
  });
});

describe('listenersOf', () => {
  it('finds the ports of the given processes only', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await listenersOf([process.pid])).toContainEqual(expect.objectContaining({ reach: 'loopback', port }));
    expect(await listenersOf([])).toBeNull();
    await new Promise((resolve) => server.close(resolve));
  });
});
