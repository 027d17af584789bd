/**
 * A whole platform over TLS, asked at a fixed rate over HTTP/1.1 and HTTP/2 and with websockets open, while apps are pushed, the platform is
 * upgraded and certificates are renewed: nothing fails. Then a worker of the edge is killed: what fails is what it had in flight.
 * TANCHO_TEST_RATE is the number of requests a second.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Asking, overHttp1, overHttp2 } from '../support/asks.ts';
import { freePort } from '../support/free-port.ts';
import {
  allowPush,
  createIdentity,
  createWorkTree,
  type Identity,
  nodeApp,
  sshUrl,
  type WorkTree,
} from '../support/git.ts';
import { type OpenLoop, startOpenLoop } from '../support/open-loop.ts';
import { otherBuild } from '../support/other-build.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { edgePid, startWorld, type World } from '../support/world.ts';

const PER_SECOND = Number(process.env['TANCHO_TEST_RATE'] ?? 200);
const DEPLOYS = rounds(9, 50);
const UPGRADES = rounds(3, 20);
const CERTIFICATES = rounds(3, 20);
const SOCKETS = rounds(50, 200);
/** At the edge whose worker is killed. */
const LATE_SOCKETS = 20;
/** Of both workers, when one is killed. */
const IN_FLIGHT = 6;
const CONNECTIONS = { https: 32, once: 16, http2: 4 };
const [BLOG, CHAT] = ['blog.localhost', 'chat.localhost'];

const chatServer = `const { createHash } = require('node:crypto');
const server = require('node:http').createServer((req, res) => res.end('chat'));
server.on('upgrade', (req, socket) => {
  const sum = createHash('sha1').update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n' +
    'Sec-WebSocket-Accept: ' + sum.digest('base64') + '\\r\\n\\r\\n');
  socket.on('error', () => {});
  let bytes = Buffer.alloc(0);
  socket.on('data', (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    for (let size; bytes.length >= 6 && bytes.length >= (size = 6 + (bytes[1] & 127)); bytes = bytes.subarray(size)) {
      const text = Buffer.from(bytes.subarray(6, size)).map((octet, at) => octet ^ bytes[2 + (at % 4)]);
      socket.write(Buffer.concat([Buffer.from([bytes[0], text.length]), text]));
    }
  });
});
server.listen(process.env.PORT);
`;

/** Every third answer is given in two halves. */
const blogServer = (number: number): string => `let asked = 0;
require('node:http').createServer((req, res) => {
  res.write('blog ');
  setTimeout(() => res.end('${number}'), ++asked % 3 === 0 ? 30 : 0);
}).listen(process.env.PORT);
`;

let world: World;
let ann: Identity;
let token: string;
let tls: number;
let folder: string;
let builds: string[];
/** Of the blog. */
let work: WorkTree;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  tls = await freePort();
  const env = { TANCHO_TLS_LISTEN: `127.0.0.1:${tls}`, TANCHO_EDGE_WORKERS: '2' };
  world = await startWorld({ env });
  ann = await createIdentity();
  token = await allowPush(world, ann);
  for (const [name, server] of [
    ['chat', chatServer],
    ['blog', blogServer(0)],
  ] as const) {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
    work = await createWorkTree({ ...nodeApp(''), 'server.js': server }, ann);
    const { dispose } = work;
    closers.push(dispose);
    const pushed = await work.push(sshUrl(world, name));
    expect(pushed.code, pushed.stderr).toBe(0);
  }
  const shown = async (): Promise<string> => (await world.cli(['cert', 'list', '--json'])).stdout;
  await until(
    async () => (JSON.parse(await shown()) as { presented: boolean }[]).filter((one) => one.presented).length >= 2,
    {
      what: 'the certificates',
      everyMs: 200,
    },
  );
  folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-builds-'));
  builds = [await otherBuild(folder, 'one'), await otherBuild(folder, 'two')];
}, 240_000);

afterAll(async () => {
  for (const close of closers) await close();
  await world.dispose();
  await ann.dispose();
  await rm(folder, { recursive: true, force: true });
});

async function push(number: number): Promise<void> {
  await work.write({ 'server.js': blogServer(number) });
  await work.commit(`number ${number}`);
  const pushed = await work.push(sshUrl(world, 'blog'));
  expect(pushed.code, pushed.stderr).toBe(0);
}

function kept(asking: Asking): Asking['ask'] {
  closers.push(() => asking.close());
  return asking.ask;
}

class Echo {
  readonly #socket: WebSocket;
  #heard = '';

  constructor() {
    const how = { headers: { host: CHAT }, rejectUnauthorized: false, servername: CHAT };
    this.#socket = new WebSocket(`wss://127.0.0.1:${tls}/`, how);
    this.#socket.on('message', (data) => (this.#heard = String(data)));
    this.#socket.on('error', () => {});
    closers.push(() => this.#socket.terminate());
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  async says(word: string): Promise<boolean> {
    if (!this.isOpen) return false;
    this.#socket.send(word);
    await until(() => this.#heard === word || !this.isOpen, { what: 'the echo' });
    return this.isOpen;
  }
}

async function openEchoes(count: number): Promise<Echo[]> {
  const echoes = Array.from({ length: count }, () => new Echo());
  await until(() => echoes.every(({ isOpen }) => isOpen), { what: 'all websockets to be open' });
  return echoes;
}

async function echoing(echoes: readonly Echo[], word: string): Promise<number> {
  return (await Promise.all(echoes.map((echo) => echo.says(word)))).filter(Boolean).length;
}

/** Two builds in turns, so that each has another edge than the one before. */
async function upgrade(number: number): Promise<void> {
  await world.end('SIGTERM');
  world.program = builds[number % builds.length] ?? '';
  await world.startAgain();
}

async function renew(): Promise<void> {
  const renewed = await world.cli(['cert', 'renew', BLOG]);
  expect(renewed.code, renewed.stderr).toBe(0);
}

interface Listed {
  readonly Id: string;
  readonly FailedRequests: number;
}

/** Requests that failed while the blog was deployed, as its records say. */
async function recorded(): Promise<number> {
  const listed = await world.cli(['deploy', 'list', '-a', 'blog', '--json']);
  return (JSON.parse(listed.stdout) as Listed[]).reduce((sum, { FailedRequests }) => sum + FailedRequests, 0);
}

interface Point {
  /** When the step began. */
  readonly at: string;
  readonly requests: number;
  readonly failures: number;
}

async function points(): Promise<readonly Point[]> {
  const answer = await world.api('GET', '/apps/blog/metrics', { token });
  return (JSON.parse(answer.text) as { readonly points: readonly Point[] }).points;
}

/** Since the last start of control, which is when they are first looked at, until all that is over by now has been looked at. */
async function counted(): Promise<number> {
  const now = Date.now();
  let all: readonly Point[] = [];
  const what = 'the requests to be looked at';
  await until(async () => (all = await points()).some(({ at }) => Date.parse(at) > now), { what, everyMs: 500 });
  return all.reduce((sum, { failures }) => sum + failures, 0);
}

async function workersOf(edge: number): Promise<number[]> {
  const children = await readFile(`/proc/${edge}/task/${edge}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

const due = (n: number, of: number): boolean => Math.floor((n * of) / DEPLOYS) > Math.floor(((n - 1) * of) / DEPLOYS);

it(`${DEPLOYS} pushes, ${UPGRADES} upgrades and ${CERTIFICATES} renewals under ${PER_SECOND} requests a second fail nothing; a killed worker what it had in flight`, async () => {
  const echoes = await openEchoes(SOCKETS);
  const https = kept(overHttp1({ port: tls, host: BLOG, isSecure: true, connections: CONNECTIONS.https }));
  const http2 = kept(overHttp2({ port: tls, host: BLOG, connections: CONNECTIONS.http2 }));
  const once = kept(overHttp1({ port: tls, host: BLOG, isSecure: true, connections: CONNECTIONS.once, isKept: false }));
  // One request of six comes by a connection of its own.
  const load = startOpenLoop(PER_SECOND, [https, http2, https, http2, once, http2], (text) =>
    /^blog [0-9]+$/.test(text),
  );
  const edges = new Set([await edgePid(world)]);
  for (let n = 1; n <= DEPLOYS; n++) {
    await push(n);
    if (due(n, UPGRADES)) await upgrade(edges.size);
    if (due(n, CERTIFICATES)) await renew();
    edges.add(await edgePid(world));
  }
  expect(load.failures).toEqual([]);
  expect(edges.size).toBe(UPGRADES + 1);
  expect(await echoing(echoes, 'still here')).toBe(SOCKETS);
  expect(await recorded()).toBe(0);
  const before = load.answered;

  expect(await counted()).toBe(0);

  const late = await openEchoes(LATE_SOCKETS);
  const { inFlight, replacedAt } = await killWorker(load);
  const { requests, wanted, latencyMs } = await load.stop();
  const failed = load.failures.length;
  const inRecord = await counted();
  console.log(
    `${before} answers without a failure, then one worker was killed: ${failed} of ${inFlight} in flight failed, ${inRecord} in the record, ` +
      `${LATE_SOCKETS - (await echoing(late, 'and we'))} of ${LATE_SOCKETS} new websockets closed; ` +
      `median ${latencyMs.median} ms, p99 ${latencyMs.p99} ms, longest ${latencyMs.longest} ms`,
  );
  if (requests < wanted)
    console.log(`this machine was too slow for the rate: ${wanted} requests should have been sent`);
  expect(load.failures.filter(({ sentAt }) => sentAt > replacedAt)).toEqual([]);
  // Whether the worker had read what was sent to it nobody knows.
  expect(inRecord).toBeLessThanOrEqual(failed);
  expect(await echoing(echoes, 'and we')).toBe(SOCKETS);
}, 1_800_000);

/** In the middle of a push, with enough in flight that it had read some of it. */
async function killWorker(load: OpenLoop): Promise<{ readonly inFlight: number; readonly replacedAt: number }> {
  const edge = await edgePid(world);
  const [victim = 0] = await workersOf(edge);
  const pushing = push(DEPLOYS + 1);
  await until(() => load.open >= IN_FLIGHT, { what: 'requests in flight', everyMs: 1 });
  const inFlight = load.open;
  process.kill(victim, 'SIGKILL');
  await until(
    async () => {
      const workers = await workersOf(edge);
      return workers.length === 2 && !workers.includes(victim);
    },
    { what: 'another worker', everyMs: 5 },
  );
  const replacedAt = performance.now();
  await pushing;
  const goal = load.answered + PER_SECOND;
  await until(() => load.answered >= goal, { what: 'answers after it', detail: () => JSON.stringify(load.failures) });
  return { inFlight, replacedAt };
}
