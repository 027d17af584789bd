/** `tancho edge run` from its start to its end, and started again with sockets that a service manager holds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { builtProgram } from '../../test/support/built.ts';
import { freePort } from '../../test/support/free-port.ts';
import { createLoad } from '../../test/support/load.ts';
import { until } from '../../test/support/until.ts';
import { request } from '../../test/support/world.ts';
import { loadConfig } from '../config/load.ts';
import { descriptorOf, listening } from '../lib/listening.ts';
import { writePidFile } from '../lib/pid-file.ts';
import { handedSockets } from './handed-sockets.ts';
import { startOwnEdge } from './own-edge.ts';

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

function tableWith(unitPort: number): object {
  const targets = [{ unit: 'shop.1', host: '127.0.0.1', port: unitPort }];
  return { version: 1, routes: [{ app: 'shop', hosts: ['shop.localhost'], targets, note: '', https: 'both' }] };
}

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'tancho-alone-'));
  undo.push(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  return home;
}

/** Of an edge that has followed a server, which is away. */
async function homeWith(unitPort: number): Promise<string> {
  const home = await newHome();
  await mkdir(join(home, 'edge'), { mode: 0o700 });
  await writeFile(join(home, 'edge', 'table.json'), JSON.stringify(tableWith(unitPort)));
  return home;
}

const environment = (home: string): Record<string, string> => ({
  ...{ PATH: process.env['PATH'] ?? '', HOME: home, TANCHO_HOME: home },
  ...{ TANCHO_EDGE_TOKEN: 'any', TANCHO_EDGE_WORKERS: '1' },
});

/** Resolves when it has answered; one question at a time. */
async function asked(edge: WebSocket, question: object): Promise<void> {
  const answered = once(edge, 'message');
  edge.send(JSON.stringify({ id: 1, ...question }));
  expect(JSON.parse(String((await answered)[0]))).not.toHaveProperty('error');
}

it('an edge that is alone is started anew without a failed request, though all its processes are asked to end at once', async () => {
  const home = await homeWith(await unitAt());
  const main = join(await builtProgram(), 'main.js');
  const pidIn = async (name: string): Promise<number> => Number(await readFile(join(home, 'run', name), 'utf8'));
  const args = [process.execPath, main, 'edge', 'run', '--name', 'alone', '--server', 'http://127.0.0.1:9'];
  const env = {
    ...environment(home),
    ...{ LISTEN_FDS: '1', TANCHO_EDGE_DRAIN: '2', TANCHO_EDGE_LISTEN: '127.0.0.1:1' },
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

it('an edge that is just being started by another process is not started a second time', async () => {
  const home = await newHome();
  await mkdir(join(home, 'run'), { mode: 0o700 });
  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  undo.push(async () => {
    const ended = once(other, 'exit');
    other.kill();
    await ended;
  });
  await writePidFile(join(home, 'run', 'edge-start.pid'), other.pid);
  const options = { name: 'second', servers: ['http://127.0.0.1:9'], token: 'any', version: '0.0.0' };
  await expect(startOwnEdge(await loadConfig({ TANCHO_HOME: home }), options)).rejects.toMatchObject({
    ...{ code: 'unavailable', message: `Another start of this edge (pid ${other.pid}) is under way.` },
  });
});

it('an edge that starts has those who come wait until it knows which apps there are', async () => {
  const unitPort = await unitAt();
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  undo.push(() => new Promise((resolve) => server.close(resolve)));
  const followed = once(server, 'connection');
  await once(server, 'listening');
  const port = await freePort();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = [join(await builtProgram(), 'main.js'), 'edge', 'run', '--name', 'early', '--server', url];
  const env = { ...environment(await newHome()), TANCHO_EDGE_LISTEN: `127.0.0.1:${port}` };
  const edge = spawn(process.execPath, args, { env, stdio: 'ignore' });
  const ended = once(edge, 'exit');
  undo.push(async () => {
    edge.kill('SIGTERM');
    await ended;
  });
  const [follower] = (await followed) as [WebSocket];
  const answer = request(`http://127.0.0.1:${port}`, 'GET', '/', { headers: { host: 'shop.localhost' } });
  for (let n = 0; n < 3; n++) await asked(follower, { op: 'hello' });
  await asked(follower, { op: 'apply', table: tableWith(unitPort) });
  expect(await answer).toMatchObject({ status: 200, text: 'one' });
});
