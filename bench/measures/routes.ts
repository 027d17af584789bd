/** An edge with the routes of ten thousand apps: how long a change of its table takes, and what the others cost a request. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { edgeHome } from '../../src/backends/router/edge/edge-world.ts';
import { createEdgeRouter } from '../../src/backends/router/edge/edge-router.ts';
import type { Route, Router } from '../../src/domain/routes/router.ts';
import { freePort } from '../../test/support/free-port.ts';
import { type Bench, type Measure, timed } from '../bench.ts';
import { firstAnswer } from '../first-answer.ts';
import { load, type LoadResult } from '../http-load.ts';
import { publishLoad } from '../load-beside.ts';
import { isStart, PLAIN_APP } from '../sample-apps.ts';

const ROUTES = 10_000;
const CHANGES = 20;
const ROUNDS = 5;
const CONNECTIONS = 32;
const SECONDS = 1;
/** Between the changes of the table while it is asked. */
const PAUSE_MS = 250;
const HEAD = ['GET /100 HTTP/1.1', 'Host: app-0.test'];

export const routes: Measure = {
  name: 'routes',
  about: 'a change of the table of an edge with 10,000 routes, and requests through it beside one with one route',
  async run(bench) {
    const port = await startApp(bench);
    const [many, one] = [await Table.open(bench, ROUTES, port), await Table.open(bench, 1, port)];
    const changes: number[] = [];
    for (let n = 0; n < CHANGES; n++) changes.push(await timed(() => many.change()));
    bench.publish({ what: 'change of the table', unit: 'ms', samples: changes });
    const [still, changing, floor]: LoadResult[][] = [[], [], []];
    const under = (table: Table): Promise<LoadResult> =>
      load({ port: table.port, head: HEAD, connections: CONNECTIONS, seconds: SECONDS });
    for (const table of [many, one]) await under(table);
    await bench.rounds(ROUNDS, async () => {
      still?.push(await under(many));
      floor?.push(await under(one));
      changing?.push(await many.whileChanging(() => under(many)));
    });
    const beside = { what: 'with one route', results: floor ?? [] };
    publishLoad(bench, '100 B with 10,000 routes', still ?? [], beside);
    publishLoad(bench, '100 B with 10,000 routes, 4 changes a second', changing ?? [], beside);
  },
};

/** What an edge of its own serves by. */
class Table {
  readonly port: number;
  readonly #router: Router;
  #routes: readonly Route[];
  #version = 0;

  private constructor(router: Router, all: readonly Route[]) {
    this.#router = router;
    this.#routes = all;
    this.port = Number(router.listen.split(':')[1]);
  }

  static async open(bench: Bench, count: number, port: number): Promise<Table> {
    const { options, remove } = await edgeHome({ workers: 1 });
    bench.keep({ dispose: remove });
    const router = await createEdgeRouter(options);
    bench.keep({ dispose: () => router.stop() });
    const all = Array.from({ length: count }, (_, at): Route => {
      const targets = [{ unit: `u${at}`, host: '127.0.0.1', port }];
      return { app: `app-${at}`, hosts: [`app-${at}.test`, `www.app-${at}.example`], targets, note: '', https: 'both' };
    });
    const table = new Table(router, all);
    await table.change();
    return table;
  }

  /** The unit of one app is another one. */
  async change(): Promise<void> {
    const version = ++this.#version;
    const at = version % this.#routes.length;
    const old = this.#routes[at];
    if (old === undefined) return;
    const targets = old.targets.map((target) => ({ ...target, unit: `u${at}-${version}` }));
    this.#routes = this.#routes.with(at, { ...old, targets });
    await this.#router.apply({ version, routes: this.#routes });
  }

  async whileChanging<T>(work: () => Promise<T>): Promise<T> {
    let isOver = false;
    const changing = (async () => {
      while (!isOver) {
        await this.change();
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    })();
    try {
      return await work();
    } finally {
      isOver = true;
      await changing;
    }
  }
}

/** Resolves with its port. */
async function startApp(bench: Bench): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'app-'));
  bench.keep({ dispose: () => rm(directory, { recursive: true, force: true }) });
  await writeFile(join(directory, 'server.js'), PLAIN_APP['server.js'] ?? '');
  const port = await freePort();
  const child = spawn(process.execPath, ['server.js'], {
    cwd: directory,
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  bench.keep({
    async dispose() {
      child.kill('SIGTERM');
      await ended;
    },
  });
  const stop = new AbortController();
  void ended.then(() => stop.abort(new Error('the app ended')));
  await firstAnswer({ port, host: 'localhost' }, isStart, stop.signal);
  return port;
}
