import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Route, RouteTable } from '../../../domain/routes/router.ts';
import { SILENT } from '../../../lib/logger.ts';
import { KeptEdge } from './kept-edge.ts';

let root: string;
let kept: KeptEdge;
let server: Server | null;
let table: RouteTable;
const connections = new Set<Socket>();

const route = (app: string): Route => ({
  ...{ app, hosts: [`${app}.test`], targets: [], note: 'no units', https: 'redirect' },
});
const target = (unit: string) => ({ unit, host: '127.0.0.1', port: 4000 });
const served = () => table.routes.map(({ targets }) => targets.map(({ unit }) => unit));

/** Talks as an edge does to control; of two tables with one version it takes the first. */
async function startEdge(): Promise<void> {
  const edge = createServer((socket) => {
    connections.add(socket.on('error', () => {}));
    createInterface({ input: socket }).on('line', (line) => {
      const { id, op, table: given } = JSON.parse(line) as { id: number; op: string; table: RouteTable };
      if (op === 'apply' && given.version > table.version) table = given;
      socket.write(`${JSON.stringify({ id, result: op === 'table' ? table : {} })}\n`);
    });
  });
  server = edge;
  await new Promise<void>((resolve) => edge.listen(join(root, 'run', 'edge.sock'), resolve));
}

async function endEdge(): Promise<void> {
  const ended = new Promise((resolve) => (server === null ? resolve(null) : server.close(resolve)));
  server = null;
  for (const connection of connections) connection.destroy();
  connections.clear();
  await ended;
}

const BLOG = { app: 'blog', process: 'web' };
const SHOP = { app: 'shop', process: 'web' };

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'kept-'));
  for (const name of ['run', 'state']) mkdirSync(join(root, name));
  table = { version: 7, routes: [route('blog'), route('shop')] };
  const options = {
    stateDir: join(root, 'state'),
    runDir: join(root, 'run'),
    listen: { host: '127.0.0.1', port: 0 },
    workers: 1,
    programDir: root,
    // What is started in the place of a dead edge; the test brings the next one.
    execPath: '/bin/true',
    logger: SILENT,
  };
  kept = new KeptEdge(options, { fingerprint: 'f', entry: 'main.js', keeperEntry: 'keeper.js' });
  await startEdge();
  await kept.keep();
});
afterEach(async () => {
  kept.close();
  await endEdge();
  rmSync(root, { recursive: true, force: true });
});

it('units that are ready at the same time are all routed to', async () => {
  await Promise.all([kept.place(BLOG, target('a')), kept.place(SHOP, target('b')), kept.place(BLOG, target('c'))]);
  expect(served()).toEqual([['a', 'c'], ['b']]);
  await kept.place(BLOG, { ...target('a'), port: 4001 });
  expect(table.routes[0]).toMatchObject({ targets: [{ unit: 'a', port: 4001 }, { unit: 'c' }], note: '' });
});

it('a unit that has died is routed to no more until it is back, and the answer says why when none is left', async () => {
  await kept.place(BLOG, target('a'));
  await kept.place(BLOG, target('b'));
  await kept.withdraw(BLOG, 'a');
  expect(served()).toEqual([['b'], []]);
  await kept.withdraw(BLOG, 'b');
  expect(table.routes[0]).toMatchObject({ targets: [], note: expect.stringContaining('"blog" is able to answer') });
  await kept.place(BLOG, { ...target('a'), port: 4001 });
  expect(table.routes[0]).toMatchObject({ targets: [{ unit: 'a', port: 4001 }], note: '' });
});

it('a unit that control had not routed to is not, beside those that it had', async () => {
  table = { version: 8, routes: [{ ...route('blog'), targets: [target('a'), target('b')] }, route('shop')] };
  await kept.place(BLOG, target('new'));
  expect(served()).toEqual([['a', 'b'], []]);
  await kept.withdraw(BLOG, 'a');
  await kept.withdraw(BLOG, 'b');
  await kept.withdraw(BLOG, 'new');
  await kept.place(BLOG, target('new'));
  expect(served()).toEqual([[], []]);
  await kept.place(BLOG, target('b'));
  expect(served()).toEqual([['b'], []]);
});

it('a unit of the rollout that control had routed to is, as soon as another one of it has died', async () => {
  const blog = { ...BLOG, rollout: 'r1' };
  table = { version: 8, routes: [{ ...route('blog'), targets: [target('a')] }, route('shop')] };
  await kept.place({ ...BLOG, rollout: 'r2' }, target('new'));
  await kept.place(blog, target('b'));
  await kept.withdraw(blog, 'a');
  expect(served()).toEqual([['b'], []]);
});

it('a unit of another process than web is routed to at that one only', async () => {
  table = { version: 8, routes: [route('blog'), { ...route('blog'), process: 'admin', hosts: ['admin.blog.test'] }] };
  await kept.place({ app: 'blog', process: 'admin' }, target('a'));
  await kept.place(BLOG, target('b'));
  expect(served()).toEqual([['b'], ['a']]);
  await kept.withdraw({ app: 'blog', process: 'admin' }, 'a');
  expect(served()).toEqual([['b'], []]);
});

it('what became ready while the edge was away is sent to the next one', async () => {
  await endEdge();
  await kept.place(BLOG, target('a')).catch(() => undefined);
  expect(served()).toEqual([[], []]);
  await startEdge();
  await expect.poll(served).toEqual([['a'], []]);
});
