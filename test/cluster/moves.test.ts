/**
 * An app that goes back and forth between this machine and a cluster under steady load: nobody who asks it notices, and connections that are
 * open stay so until the unit behind them has said goodbye. TANCHO_TEST_MOVES=50 TANCHO_TEST_RATE=500 is the whole of it.
 */
import http from 'node:http';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { startOpenLoad } from '../support/open-load.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import { CLUSTER_POOL } from '../support/world-engine.ts';
import { describeNamespace } from './describe.ts';

const MOVES = Number(process.env['TANCHO_TEST_MOVES'] ?? 10);
const PER_SECOND = Number(process.env['TANCHO_TEST_RATE'] ?? 200);
const CONNECTIONS = 20;
const SOCKETS = 50;
const BYE = 'bye.';

/** Answers with where it runs. Over an upgraded connection it sends back what comes, and says goodbye when it is asked to end. */
const SERVER = `const sockets = new Set();
const server = require('node:http').createServer((req, res) => res.end(process.env.TANCHO_UNIT));
server.on('upgrade', (req, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n');
  sockets.add(socket);
  socket.on('error', () => {}).on('close', () => sockets.delete(socket)).on('data', (data) => socket.write(data));
});
server.listen(process.env.PORT);
process.on('SIGTERM', () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
  for (const socket of sockets) socket.end('${BYE}');
});
`;

let world: World;
let ann: Identity;
let token: string;

beforeAll(async () => {
  world = await startWorld({ hasCluster: true });
  ann = await createIdentity();
  token = await allowPush(world, ann);
  await world.api('POST', '/apps', { token, body: '{"name":"mover","platform":"nodejs","pool":"default"}' });
  const work = await createWorkTree({ ...nodeApp(''), 'server.js': SERVER }, ann);
  const pushed = await work.push(sshUrl(world, 'mover'));
  expect(pushed.code, pushed.stderr).toBe(0);
  await work.dispose();
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

/** Is connected again as soon as a unit has said goodbye. */
class Echo {
  readonly failures: string[] = [];
  goodbyes = 0;
  #socket: Duplex | null = null;
  #text = '';
  #isOpen = false;
  #isOver = false;

  async open(): Promise<void> {
    const headers = { host: 'mover.localhost', connection: 'Upgrade', upgrade: 'echo' };
    this.#text = '';
    const socket = await new Promise<Duplex>((resolve, reject) => {
      const request = http.get(`http://${world.edge}/`, { headers, agent: false });
      request.once('upgrade', (_response, upgraded, head) => {
        // What came together with the answer.
        if (head.length > 0) upgraded.unshift(head);
        resolve(upgraded);
      });
      request.once('response', ({ statusCode }) => reject(new Error(`not upgraded: ${statusCode}`)));
      request.once('error', reject);
    });
    this.#socket = socket;
    this.#isOpen = true;
    socket.on('data', (data: Buffer) => (this.#text += data.toString()));
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
  }

  /** What is sent just when the unit ends may have no answer but the goodbye: then it is sent once more, to the next one. */
  async ask(word: string): Promise<void> {
    const isHopeless = (): boolean => this.failures.length > 0;
    while (!this.#text.includes(word) && !isHopeless()) {
      await until(() => this.#isOpen || isHopeless(), { what: 'the connection' });
      const { goodbyes } = this;
      this.#socket?.write(word);
      await until(() => this.#text.includes(word) || this.goodbyes > goodbyes || isHopeless(), { what: 'the echo' });
    }
  }

  end(): void {
    this.#isOver = true;
    this.#socket?.destroy();
  }

  #closed(): void {
    this.#isOpen = false;
    if (this.#isOver) return;
    if (this.#text.endsWith(BYE)) this.goodbyes += 1;
    else this.failures.push(`cut off after ${JSON.stringify(this.#text.slice(-80))}`);
    this.open().catch((error: unknown) => this.failures.push(String(error)));
  }
}

async function seen(): Promise<string> {
  const { client, namespace } = world.cluster ?? expect.fail('the server has no cluster');
  const { text } = await world.api('GET', '/apps/mover/log?lines=50', { token });
  return `${text}\n${await describeNamespace(client, namespace)}\n${world.output()}`;
}

it(`${MOVES} moves between this machine and a cluster fail no request and cut no upgraded connection`, async () => {
  const echoes = Array.from({ length: SOCKETS }, () => new Echo());
  await Promise.all(echoes.map((echo) => echo.open()));
  const load = startOpenLoad(world, ['mover'], PER_SECOND, CONNECTIONS);
  const units = new Set<string>();
  for (let move = 1; move <= MOVES; move++) {
    const pool = move % 2 === 1 ? CLUSTER_POOL : 'default';
    const moved = await world
      .api('PUT', '/apps/mover', { token, body: JSON.stringify({ pool }) })
      .catch(async (error: unknown) => expect.fail(`move ${move}: ${String(error)}\n${await seen()}`));
    expect(moved.status, moved.text).toBe(200);
    const { text } = await world.fetchApp('mover');
    expect(text).toMatch(pool === CLUSTER_POOL ? /^mover\/mover-web-[0-9a-f]{12}-/ : /^mover\/\d+$/);
    units.add(text);
    await Promise.all(echoes.map((echo) => echo.ask(`word ${move};`)));
  }
  const { failures, requests, wanted, latencyMs } = await load.stop();
  for (const echo of echoes) echo.end();
  const goodbyes = echoes.reduce((sum, echo) => sum + echo.goodbyes, 0);
  console.log(
    `${MOVES} moves: ${requests} requests of ${wanted}, ${failures.length} failed; ${goodbyes} goodbyes; ` +
      `median ${latencyMs.median} ms, p99 ${latencyMs.p99} ms, longest ${latencyMs.longest} ms`,
  );
  expect(failures).toEqual([]);
  expect(echoes.flatMap((echo) => echo.failures)).toEqual([]);
  expect(goodbyes).toBeGreaterThan(0);
}, 1_800_000);
