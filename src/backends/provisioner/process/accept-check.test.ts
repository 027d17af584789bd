import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { AcceptCheck, parseUnaccepted, readUnaccepted } from './accept-check.ts';

const NEVER = new AbortController().signal;

let server: Server | null = null;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  const { promise, resolve } = Promise.withResolvers<void>();
  if (server === null) resolve();
  else server.close(() => resolve());
  await promise;
});

function probe(check: AcceptCheck, port: number, timeoutMs: number, pids = () => Promise.resolve([process.pid])) {
  return check.probe({ address: { host: '127.0.0.1', port }, behind: null, timeoutMs, pids, signal: NEVER });
}

it('reads from the table who waits to be accepted', () => {
  const row = (remote: string, state: string, inode: number): string =>
    `   1: 0100007F:1F90 0100007F:${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 x`;
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    row('0000', '0A', 4711),
    row('A001', '01', 0),
    row('A002', '08', 0),
    row('A003', '01', 4712),
    row('A004', '03', 0),
    // One that was closed.
    row('A005', '06', 0),
    // The other end of one, in the same table.
    row('A006', '01', 4713).replace('0100007F:1F90 0100007F:A006', '0100007F:A006 0100007F:1F90'),
  ].join('\n');
  expect(parseUnaccepted(table)).toEqual(new Map([[8080, new Set([0xa001, 0xa002, 0xa004])]]));
});

it('does not read a table to its end that is larger than it may be', async () => {
  const row = (remote: string): string =>
    `   1: 0100007F:1F90 0100007F:${remote} 01 00000000:00000000 00:00000000 00000000     0        0 0 1 x\n`;
  const directory = await mkdtemp(join(tmpdir(), 'accept-check-'));
  try {
    await writeFile(join(directory, 'tcp'), row('A001').repeat(1_000) + row('A002'));
    expect(await readUnaccepted(directory, 1_000_000)).toEqual(new Map([[8080, new Set([0xa001, 0xa002])]]));
    expect(await readUnaccepted(directory, 50_000)).toBeNull();
  } finally {
    await rm(directory, { recursive: true });
  }
});

it('takes a listener that accepts for well, and a port where nobody listens for unwell', async () => {
  server = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server?.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await probe(new AcceptCheck(), port, 60_000)).toEqual({ kind: 'well' });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  for (const socket of sockets) socket.destroy();
  await promise;
  server = null;
  expect(await probe(new AcceptCheck(), port, 60_000)).toMatchObject({ kind: 'unwell' });
  // The signal outlives many probes.
  expect(getEventListeners(NEVER, 'abort')).toEqual([]);
});

it('gives a listener that is slow a while before it asks the kernel', async () => {
  let looks = 0;
  const pids = (): Promise<number[]> => {
    looks += 1;
    return Promise.resolve([process.pid]);
  };
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.resume().on('end', () => setTimeout(() => socket.end(), 600));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server?.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await probe(new AcceptCheck(), port, 60_000, pids)).toEqual({ kind: 'well' });
  expect(looks).toBe(0);
});

it('asks the kernel only about a listener that keeps what the client has closed', async () => {
  let looks = 0;
  const pids = (): Promise<number[]> => {
    looks += 1;
    return Promise.resolve([process.pid]);
  };
  const listen = async (onConnection: (socket: Socket) => void, allowHalfOpen: boolean): Promise<number> => {
    server = createServer({ allowHalfOpen }, onConnection).listen(0, '127.0.0.1');
    await new Promise((resolve) => server?.once('listening', resolve));
    return (server.address() as AddressInfo).port;
  };
  const closing = await listen((socket) => void socket.resume(), false);
  expect(await probe(new AcceptCheck(), closing, 60_000, pids)).toEqual({ kind: 'well' });
  expect(looks).toBe(0);
  await new Promise((resolve) => server?.close(resolve));
  const keeping = await listen((socket) => sockets.add(socket.resume()), true);
  expect(await probe(new AcceptCheck(), keeping, 60_000, pids)).toEqual({ kind: 'well' });
  expect(looks).toBeGreaterThan(0);
});

it('looks behind a door, where connections are taken before the unit is asked', async () => {
  const code = `const server = require('node:net').createServer({ allowHalfOpen: true }, (s) => s.resume());
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;
  const unit = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const behind = Number(String((await once(unit.stdout, 'data'))[0]));
    server = createServer({ allowHalfOpen: true }, (socket) => {
      const inner = connect({ host: '127.0.0.1', port: behind, allowHalfOpen: true });
      for (const one of [socket, inner]) sockets.add(one.on('error', () => undefined));
      socket.pipe(inner).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const check = new AcceptCheck();
    const pids = (): Promise<number[]> => Promise.resolve([unit.pid ?? 0]);
    const look = (timeoutMs: number) =>
      check.probe({ address: { host: '127.0.0.1', port }, behind, timeoutMs, pids, signal: NEVER });
    expect(await look(60_000)).toEqual({ kind: 'well' });
    unit.kill('SIGSTOP');
    expect(await look(1_000)).toMatchObject({ kind: 'unwell' });
    unit.kill('SIGCONT');
    expect(await look(60_000)).toEqual({ kind: 'well' });
  } finally {
    unit.kill('SIGKILL');
  }
});
