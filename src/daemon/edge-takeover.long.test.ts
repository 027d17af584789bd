/** `tancho edge run` beside one that runs in the same home: the edge is handed on, and no client notices. */
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { freePort } from '../../test/support/free-port.ts';
import { createLoad } from '../../test/support/load.ts';
import { otherBuild } from '../../test/support/other-build.ts';
import { type OwnEdge, startOwnEdge } from '../../test/support/own-edge.ts';
import { testCertificate } from '../../test/support/test-certificates.ts';
import { until } from '../../test/support/until.ts';
import { listening } from '../lib/listening.ts';
import { readProcess } from '../lib/processes.ts';

const AWAY = 'http://127.0.0.1:9';
const BEAT_MS = 500;

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'tancho-takeover-'));
  undo.push(() => rm(made, { recursive: true, force: true, maxRetries: 5 }));
  return made;
}

/** Answers with its name, and sends back what comes over websockets. */
async function unit(name: string): Promise<number> {
  const server = createHttpServer((_request, response) => response.end(name));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
  await listening(server, { host: '127.0.0.1', port: 0 });
  undo.push(async () => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const tableWith = (version: number, port: number): object => ({
  version,
  routes: [
    {
      ...{ app: 'shop', hosts: ['shop.localhost'], note: '', https: 'both' },
      targets: [{ unit: `shop.${port}`, host: '127.0.0.1', port }],
    },
  ],
});

async function started(home: string, servers: readonly string[], env: Record<string, string> = {}): Promise<OwnEdge> {
  return disposed(await startOwnEdge({ name: 'alone', servers, token: 'any', home, env }));
}

function disposed(edge: OwnEdge): OwnEdge {
  undo.push(() => edge.dispose());
  return edge;
}

/** Of an edge that has followed a server, which is away. */
async function homeWith(unitPort: number): Promise<string> {
  const home = await folder();
  await mkdir(join(home, 'edge'), { mode: 0o700 });
  await writeFile(join(home, 'edge', 'table.json'), JSON.stringify(tableWith(1, unitPort)));
  return home;
}

it.each(['1', '2'])('no request fails, no websocket is cut, and the one before ends (%s workers)', async (workers) => {
  const edge = await started(await homeWith(await unit('one')), [AWAY], { TANCHO_EDGE_WORKERS: workers });
  const next = await otherBuild(await folder(), 'next');
  const load = createLoad(edge, 'shop', 4);
  const socket = new WebSocket(`ws://${edge.edge}/`, { headers: { host: 'shop.localhost' } });
  await Promise.all([load.reached(50), once(socket, 'open')]);
  const before = await edge.pid();

  const after = disposed(await edge.takenOverBy(next));
  expect(after.edge).toBe(edge.edge);
  expect(await after.pid()).not.toBe(before);
  const echo = once(socket, 'message');
  socket.send('still here');
  expect(String((await echo)[0])).toBe('still here');
  const { text } = await after.fetchApp('shop');
  expect(text).toBe('one');
  const { requests, failures } = await load.stop();
  expect(failures).toEqual([]);
  expect(requests).toBeGreaterThan(50);

  socket.close();
  expect(await edge.ended).toBe(0);
  expect(edge.output()).toContain('Another one has taken over');
  // What it prints is with the one that was started last, and so is its end.
  expect(after.output()).toContain('serving on ');
  const pid = await after.pid();
  await after.end('SIGKILL');
  await until(() => readProcess(pid)?.zombie !== false, { what: 'the edge to end with the one that looks after it' });
});

interface Follower {
  readonly instance: string;
  readonly socket: WebSocket;
  readonly closed: Promise<number>;
  ask(question: object): Promise<void>;
}

/** A server that edges follow, one after the other. */
async function followed(): Promise<{ readonly url: string; next(): Promise<Follower> }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const came: Follower[] = [];
  server.on('connection', (socket, { url = '' }) => {
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    // An edge goes to another server when it hears nothing for long.
    const beats = setInterval(() => socket.send(JSON.stringify({ id: 0, op: 'hello' })), BEAT_MS);
    void closed.then(() => clearInterval(beats));
    const ask = async (question: object): Promise<void> => {
      const answer = new Promise<object>((resolve, reject) => {
        void closed.then((code) => reject(new Error(`the edge has closed: ${code}`)));
        socket.on('message', (text) => {
          const reply = JSON.parse(String(text)) as { readonly id: number };
          if (reply.id === 1) resolve(reply);
        });
      });
      socket.send(JSON.stringify({ id: 1, ...question }));
      expect(await answer).not.toHaveProperty('error');
      socket.removeAllListeners('message');
    };
    const instance = new URL(url, 'http://server').searchParams.get('instance') ?? '';
    came.push({ instance, socket, closed, ask });
  });
  await once(server, 'listening');
  undo.push(() => {
    for (const client of server.clients) client.terminate();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async next() {
      await until(() => came.length > 0, { what: 'an edge to follow' });
      return came.shift() ?? expect.fail('none came');
    },
  };
}

it('the server is followed by one at a time, which has what the one before it had', async () => {
  const certificate = { id: 'c1', names: ['shop.localhost'], ...(await testCertificate('shop.localhost')) };
  const set = { version: 1, certificates: [certificate], httpChallenges: [], alpnChallenges: [] };
  const server = await followed();
  const home = await folder();
  const tlsPort = await freePort();
  const starting = started(home, [server.url], { TANCHO_TLS_LISTEN: `127.0.0.1:${tlsPort}` });
  const first = await server.next();
  await first.ask({ op: 'apply-certificates', set });
  await first.ask({ op: 'apply', table: tableWith(1, await unit('one')) });
  const edge = await starting;
  await first.ask({ op: 'apply', table: tableWith(2, await unit('two')) });

  const after = disposed(await edge.takenOverBy());
  // The connection counts as lost: had the edge left, nobody would wait for what it answers yet.
  expect(await first.closed).toBe(4000);
  const second = await server.next();
  expect(second.instance).toBe(first.instance);
  // Before the server has said anything: private keys are on no disk.
  expect((await after.fetchApp('shop')).text).toBe('two');
  const client = connect({ host: '127.0.0.1', port: tlsPort, servername: 'shop.localhost', rejectUnauthorized: false });
  await once(client, 'secureConnect');
  expect(client.getPeerX509Certificate()?.toString()).toBe(certificate.chain);
  client.destroy();
  expect(Number(await readFile(join(home, 'run', 'control.pid'), 'utf8'))).toBe(after.ownerPid);
  await second.ask({ op: 'apply', table: tableWith(1, await unit('three')) });
  expect((await after.fetchApp('shop')).text).toBe('three');
  await after.end('SIGTERM');
  expect(await second.closed).toBe(1000);
});

it('one that fails while it takes over leaves the one that runs as it was', async () => {
  const server = await followed();
  const home = await folder();
  const starting = started(home, [server.url]);
  const first = await server.next();
  await first.ask({ op: 'apply', table: tableWith(1, await unit('one')) });
  const edge = await starting;
  const pid = await edge.pid();
  const broken = await otherBuild(await folder(), 'broken');
  const file = join(dirname(broken), 'edge', 'edge.js');
  const code = await readFile(file, 'utf8');
  // What is in force has been handed over by then.
  expect(code).toContain('await before();');
  await writeFile(file, code.replace('await before();', 'throw new Error("broken");'));
  const load = createLoad(edge, 'shop', 2);
  await load.reached(20);

  await expect(edge.takenOverBy(broken)).rejects.toThrow('the edge ended');
  expect(await edge.pid()).toBe(pid);
  expect(await first.closed).toBe(4000);
  const second = await server.next();
  await second.ask({ op: 'apply', table: tableWith(2, await unit('two')) });
  expect((await edge.fetchApp('shop')).text).toBe('two');
  expect(Number(await readFile(join(home, 'run', 'control.pid'), 'utf8'))).toBe(edge.ownerPid);

  const after = disposed(await edge.takenOverBy());
  expect(await after.pid()).not.toBe(pid);
  expect(await edge.ended).toBe(0);
  const { failures } = await load.stop();
  expect(failures).toEqual([]);
});
