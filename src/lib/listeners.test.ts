import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answersAt, listenersIn, listenersOf, parseListeners } from './listeners.ts';
import type { Listener } from './listeners.ts';

const HEAD = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const row = (local: string, state = '0A'): string =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0\n`;

describe('parseListeners', () => {
  it.each([
    ['00000000:1F90', 'any', 4],
    ['0100007F:1F90', 'loopback', 4],
    ['0A00020F:1F90', 'other', 4],
    ['00000000000000000000000000000000:1F90', 'any', 6],
    ['00000000000000000000000001000000:1F90', 'loopback', 6],
    ['0000000000000000FFFF00000100007F:1F90', 'loopback', 4],
    ['0000000000000000FFFF00000A00020F:1F90', 'other', 4],
    ['0000000000000000FFFF000000000000:1F90', 'any', 4],
  ])('reads %s as %s', (local, reach, family) => {
    expect(parseListeners(HEAD + row(local))).toEqual([{ reach, family, port: 8080, inode: '4711', uid: '0' }]);
  });

  it('leaves out what does not listen', () => {
    expect(parseListeners(HEAD + row('0100007F:1F90', '01'))).toEqual([]);
  });
});

describe('listenersIn', () => {
  const CLOSED = row('0100007F:1F90', '06').repeat(50_000);

  it('lets other work go on while it reads a table of very many connections', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'listeners-'));
    try {
      await writeFile(join(directory, 'tcp'), `${HEAD}${row('00000000:0050')}${CLOSED}${row('00000000:0051')}`);
      let turns = 0;
      const turn = (): void => {
        turns += 1;
        waiting = setImmediate(turn);
      };
      let waiting = setImmediate(turn);
      const found = await listenersIn(directory).finally(() => clearImmediate(waiting));
      expect(found.map(({ port }) => port)).toEqual([80, 81]);
      expect(turns).toBeGreaterThan(100);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('reads no more of it than it is told to', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'listeners-'));
    try {
      await writeFile(join(directory, 'tcp'), `${HEAD}${row('00000000:0050')}${CLOSED}${row('00000000:0051')}`);
      await writeFile(join(directory, 'tcp6'), `${HEAD}${row('00000000000000000000000000000000:0052')}`);
      const found = await listenersIn(directory, 100_000);
      expect(found.map(({ port }) => port)).toEqual([80, 82]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

describe('listenersOf', () => {
  it('finds the ports of the given processes only', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const mine = expect.objectContaining({ reach: 'loopback', port });
    expect((await listenersOf([process.pid]))?.own).toContainEqual(mine);
    expect((await listenersOf([process.ppid]))?.foreign).toContainEqual(mine);
    expect(await listenersOf([])).toBeNull();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('answersAt', () => {
  const one = (reach: Listener['reach'], family: 4 | 6): Listener => ({
    reach,
    family,
    port: 8080,
    inode: '1',
    uid: '0',
  });

  it.each<[string, Listener[], Listener[], boolean, boolean]>([
    ['IPv4 only', [one('any', 4)], [], true, false],
    ['IPv6 on the loopback only', [one('loopback', 6)], [], false, true],
    ['both', [one('any', 6)], [], true, true],
    ['IPv6, while a stranger sits on IPv4', [one('any', 6)], [one('loopback', 4)], false, true],
    ['IPv6 loopback, while a stranger sits on IPv4', [one('loopback', 6)], [one('any', 4)], false, true],
    ['another interface only', [one('other', 4)], [], false, false],
    ['nothing, while a stranger does', [], [one('any', 6)], false, false],
  ])('%s', (_, own, foreign, v4, v6) => {
    expect(answersAt('127.0.0.1', 8080, { own, foreign })).toBe(v4);
    expect(answersAt('::1', 8080, { own, foreign })).toBe(v6);
    expect(answersAt('127.0.0.1', 8081, { own, foreign })).toBe(false);
  });
});
