/** `tancho edge run` with sockets that a service manager holds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { builtProgram } from '../../test/support/built.ts';
import { createLoad } from '../../test/support/load.ts';
import { until } from '../../test/support/until.ts';
import { request } from '../../test/support/world.ts';
import { descriptorOf, listening } from '../lib/listening.ts';
import { handedSockets } from './handed-sockets.ts';

/** As the service manager: holds the socket, and starts the program once more when it has ended. */
const MANAGER = `for round in 1 2; do sh -c 'export LISTEN_PID=$$; exec "$@"' sh "$@"; done`;

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe('sockets of a service manager', () => {
  it('are those that it names to this very process', () => {
    const pid = `${process.pid}`;
    expect(handedSockets({ LISTEN_FDS: '2', LISTEN_PID: pid }, 2)).toEqual([3, 4]);
    expect(handedSockets({ LISTEN_FDS: '1', LISTEN_PID: '1' }, 1)).toBeNull();
    expect(handedSockets({}, 1)).toBeNull();
  });

  it('are refused where they are not as many as there are addresses', () => {
    const env = { LISTEN_FDS: '1', LISTEN_PID: `${process.pid}` };
    expect(() => handedSockets(env, 2)).toThrow('1 sockets in place of 2');
  });
});

async function unitAt(): Promise<number> {
  const unit = createHttpServer((_request, response) => response.end('one'));
  await listening(unit, { host: '127.0.0.1', port: 0 });
  undo.push(async () => {
    unit.closeAllConnections();
    await new Promise((resolve) => unit.close(resolve));
  });
  return (unit.address() as AddressInfo).port;
}

/** Of an edge that has followed a server, which is away. */
async function homeWith(unitPort: number): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'tancho-alone-'));
  undo.push(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const targets = [{ unit: 'shop.1', host: '127.0.0.1', port: unitPort }];
  const route = { app: 'shop', hosts: ['shop.localhost'], targets, note: '', https: 'both' };
  await mkdir(join(home, 'edge'), { mode: 0o700 });
  await writeFile(join(home, 'edge', 'table.json'), JSON.stringify({ version: 1, routes: [route] }));
  return home;
}

it('an edge that is alone is started anew without a failed request, though all its processes are told to end at once', async () => {
  const home = await homeWith(await unitAt());
  const main = join(await builtProgram(), 'main.js');
  const pidIn = async (name: string): Promise<number> => Number(await readFile(join(home, 'run', name), 'utf8'));
  const args = [process.execPath, main, 'edge', 'run', '--name', 'alone', '--server', 'http://127.0.0.1:9'];
  const own = { PATH: process.env['PATH'], HOME: home, TANCHO_HOME: home, TANCHO_EDGE_TOKEN: 'any' };
  const env = {
    ...own,
    LISTEN_FDS: '1',
    TANCHO_EDGE_DRAIN: '2',
    TANCHO_EDGE_WORKERS: '1',
    TANCHO_EDGE_LISTEN: '127.0.0.1:1',
  };

  const socket = createServer();
  await listening(socket, { host: '127.0.0.1', port: 0, backlog: 1_024 });
  const at = `127.0.0.1:${(socket.address() as AddressInfo).port}`;
  const manager = spawn('/bin/sh', ['-c', MANAGER, 'sh', ...args], {
    ...{ env, stdio: ['ignore', 'pipe', 'pipe', descriptorOf(socket)] },
  });
  socket.close();
  let printed = '';
  for (const stream of [manager.stdout, manager.stderr])
    stream?.on('data', (data: Buffer) => (printed += data.toString()));
  const ended = once(manager, 'exit');
  undo.push(async () => {
    while (manager.exitCode === null) {
      await pidIn('control.pid')
        .then((pid) => process.kill(pid, 'SIGTERM'))
        .catch(() => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 100))]);
    }
  });
  const serves = (times: number): Promise<void> =>
    until(() => printed.split(`serving on ${at}`).length === times + 1, { what: 'it to serve', detail: () => printed });

  await serves(1);
  const load = createLoad({ edge: at }, 'shop', 4);
  await load.reached(50);
  for (const pid of [await pidIn('control.pid'), await pidIn('edge.pid')]) process.kill(pid, 'SIGTERM');
  await serves(2);
  const answer = await request(`http://${at}`, 'GET', '/', { headers: { host: 'shop.localhost' } });
  expect(answer.text).toBe('one');
  const { requests, failures } = await load.stop();
  expect(failures).toEqual([]);
  expect(requests).toBeGreaterThan(50);
});
