/**
 * All that clients speak at once, while apps are rolled, edges replaced and certificates changed: nothing fails. Then a worker is killed:
 * what fails is what it had in flight, and is counted.
 */
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type Ask, type Asking, overHttp1, overHttp2 } from '../../../../test/support/asks.ts';
import { testCertificate } from '../../../../test/support/test-certificates.ts';
import { until } from '../../../../test/support/until.ts';
import type { Certificate, Route, Target } from '../../../domain/routes/router.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import type { AdoptingRouter } from './edge-router.ts';
import { EdgeWorld } from './edge-world.ts';

/** More of them, by a whole platform: test/scenarios/mixed-load.long.test.ts. */
const DEPLOYS = 15;
const REPLACEMENTS = 6;
const CERTIFICATES = 6;
const SOCKETS = 200;
/** At the edge whose worker is killed; the system shares them out between its two. */
const LATE_SOCKETS = 60;
/** Requests at one time, by what they are sent over. */
const LANES = { http: 8, https: 8, http2: 16, once: 4 };
const SESSIONS = 4;
const PAUSE_MS = 4;
const NAMES = ['blog.test', 'chat.test'];

const world = new EdgeWorld();
afterEach(() => world.dispose());

interface Failed {
  readonly lane: string;
  readonly why: string;
  readonly begunAt: number;
}

/** Requests one after the other in each lane, until stopped. */
class Load {
  answered = 0;
  readonly failures: Failed[] = [];
  #isRunning = true;
  readonly #lanes: Promise<void>[] = [];

  add(name: string, lanes: number, ask: Ask): void {
    for (let lane = 0; lane < lanes; lane++) this.#lanes.push(this.#run(`${name} ${lane}`, ask));
  }

  async more(count: number): Promise<void> {
    const goal = this.answered + count;
    await until(() => this.answered >= goal, { what: `${count} answers`, detail: () => JSON.stringify(this.failures) });
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#lanes);
  }

  async #run(lane: string, ask: Ask): Promise<void> {
    while (this.#isRunning) {
      const begunAt = performance.now();
      const fail = (why: string): void => void this.failures.push({ lane, why: why.slice(0, 200), begunAt });
      await ask().then(
        (text) => (/^blog [0-9]+$/.test(text) ? void this.answered++ : fail(text)),
        (error: Error) => fail(error.message),
      );
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

function asked({ ask, close }: Asking): Ask {
  world.undo(async () => close());
  return ask;
}

function portOf(listen: string | null): number {
  return Number((listen ?? '').split(':')[1]);
}

class Echo {
  readonly socket: WebSocket;
  heard = '';

  constructor(port: number) {
    const how = { headers: { host: 'chat.test' }, rejectUnauthorized: false, servername: 'chat.test' };
    this.socket = new WebSocket(`wss://127.0.0.1:${port}/`, how);
    this.socket.on('message', (data) => (this.heard = String(data)));
    this.socket.on('error', () => {});
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }
}

async function openEchoes(port: number, count: number): Promise<Echo[]> {
  const echoes = Array.from({ length: count }, () => new Echo(port));
  world.undo(async () => echoes.forEach(({ socket }) => socket.terminate()));
  await until(() => echoes.every(({ isOpen }) => isOpen), { what: 'all websockets to be open' });
  return echoes;
}

/** Those that are open say the word, and hear it. */
async function allEcho(echoes: readonly Echo[], word: string): Promise<number> {
  const open = echoes.filter(({ isOpen }) => isOpen);
  for (const { socket } of open) socket.send(word);
  await until(() => open.every(({ heard, isOpen }) => heard === word || !isOpen), { what: 'the echoes' });
  return open.filter(({ isOpen }) => isOpen).length;
}

async function pair(version: number): Promise<Certificate> {
  return { id: `c${version}`, names: NAMES, ...(await testCertificate(...NAMES)) };
}

async function workersOf(edge: number): Promise<number[]> {
  const children = await readFile(`/proc/${edge}/task/${edge}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

/** What is rolled, replaced and changed under the load. */
class Stage {
  router: AdoptingRouter;
  readonly options: EdgeRouterOptions;
  readonly #chat: Route;
  #blog: { readonly target: Target; readonly close: () => void };
  #version = 1_000;
  #replaced = 0;
  #presented = 0;

  private constructor(options: EdgeRouterOptions, router: AdoptingRouter, chat: Route, blog: Stage['deployed']) {
    this.options = options;
    this.router = router;
    this.#chat = chat;
    this.#blog = blog;
  }

  static async set(): Promise<Stage> {
    const local = { host: '127.0.0.1', port: 0 };
    const options = await world.home({ workers: 2, tls: local, stopGraceMs: 5_000 });
    const router = await world.start(options);
    const { server, routes } = await world.unit('chat');
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))));
    const chat = { ...(routes[0] as Route), app: 'chat', hosts: ['chat.test'] };
    const at = (listen: string | null) => ({ host: '127.0.0.1', port: portOf(listen) });
    const kept = { ...options, listen: at(router.listen), tls: at(router.tlsListen) };
    const stage = new Stage(kept, router, chat, await Stage.#unit(0));
    await stage.#apply();
    await stage.present();
    return stage;
  }

  get deployed(): { readonly target: Target; readonly close: () => void } {
    return this.#blog;
  }

  /** Every third answer is given in two halves. */
  static async #unit(number: number): Promise<Stage['deployed']> {
    let asked = 0;
    const answer: RequestListener = (_request, response) => {
      response.write('blog ');
      setTimeout(() => response.end(String(number)), ++asked % 3 === 0 ? 30 : 0);
    };
    const { server, routes } = await world.unit(`blog-${number}`, answer);
    const target = routes[0]?.targets[0] as Target;
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    return { target, close };
  }

  /** As a rollout does it: the new one serves, the old one is free of requests, the old one ends. */
  async deploy(number: number): Promise<void> {
    const old = this.#blog;
    this.#blog = await Stage.#unit(number);
    await this.#apply();
    expect(await this.router.drained([old.target.unit], 60_000)).toBe(0);
    old.close();
  }

  async replace(): Promise<void> {
    const before = await world.pid(this.options);
    await this.router.close();
    this.router = await world.start({ ...this.options, limits: { queuePerTarget: 200 + ++this.#replaced } });
    expect(await world.pid(this.options)).not.toBe(before);
  }

  async present(): Promise<void> {
    const version = ++this.#presented;
    const certificates = [await pair(version)];
    await this.router.applyCertificates({ version, certificates, httpChallenges: [], alpnChallenges: [] });
    expect((await this.router.certificates()).ids).toEqual([`c${version}`]);
  }

  #apply(): Promise<void> {
    const blog = { app: 'blog', hosts: ['blog.test'], targets: [this.#blog.target], note: '' };
    const https = 'both' as const;
    const routes = [
      { ...blog, https },
      { ...this.#chat, https },
    ];
    return this.router.apply({ version: ++this.#version, routes });
  }
}

it(`${DEPLOYS} deploys, ${REPLACEMENTS} edges and ${CERTIFICATES} certificates fail nothing; a killed worker what it had in flight`, async () => {
  const stage = await Stage.set();
  const [plain, tls] = [portOf(stage.router.listen), portOf(stage.router.tlsListen)];
  const echoes = await openEchoes(tls, SOCKETS);
  const load = new Load();
  const kept = { host: 'blog.test', connections: LANES.https };
  load.add('HTTP/1.1', LANES.http, asked(overHttp1({ ...kept, port: plain, isSecure: false })));
  load.add('HTTP/1.1 over TLS', LANES.https, asked(overHttp1({ ...kept, port: tls, isSecure: true })));
  const once = { ...kept, port: tls, isSecure: true, isKept: false };
  load.add('HTTP/1.1 over TLS, a connection each', LANES.once, asked(overHttp1(once)));
  load.add('HTTP/2', LANES.http2, asked(overHttp2({ ...kept, port: tls, connections: SESSIONS })));
  await load.more(100);

  const due = (n: number, of: number): boolean => Math.floor((n * of) / DEPLOYS) > Math.floor(((n - 1) * of) / DEPLOYS);
  for (let n = 1; n <= DEPLOYS; n++) {
    await stage.deploy(n);
    if (due(n, REPLACEMENTS)) await stage.replace();
    if (due(n, CERTIFICATES)) await stage.present();
    await load.more(50);
  }
  expect(load.failures).toEqual([]);
  expect(await allEcho(echoes, 'still here')).toBe(SOCKETS);
  const { failures: none } = await stage.router.traffic('blog');
  expect(none).toBe(0);
  const before = load.answered;
  // The others are with edges that were replaced long ago.
  const late = await openEchoes(tls, LATE_SOCKETS);

  const edge = await world.pid(stage.options);
  const [victim = 0] = await workersOf(edge);
  process.kill(victim, 'SIGKILL');
  await until(
    async () => {
      const workers = await workersOf(edge);
      return workers.length === 2 && !workers.includes(victim);
    },
    { what: 'another worker' },
  );
  const replacedAt = performance.now();
  await load.more(1_000);
  await load.stop();
  // Every lane had one request in flight, and none has failed that began when another worker was there.
  expect(load.failures.filter(({ begunAt }) => begunAt > replacedAt)).toEqual([]);
  expect(new Set(load.failures.map(({ lane }) => lane)).size).toBe(load.failures.length);
  const lost = load.failures.length;
  const { failures } = await stage.router.traffic('blog');
  expect(failures).toBeLessThanOrEqual(lost);
  expect(await allEcho(echoes, 'and we')).toBe(SOCKETS);
  const left = await allEcho(late, 'and we');
  console.log(
    `${before} answers without a failure; killed worker: ${lost} requests failed, ${failures} counted, ${LATE_SOCKETS - left} of ${LATE_SOCKETS} websockets closed`,
  );
}, 900_000);
