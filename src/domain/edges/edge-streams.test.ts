import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EdgeEnd } from '../../../test/support/edge-ends.ts';
import { until } from '../../../test/support/until.ts';
import { createSqlStore } from '../../backends/store/sql/index.ts';
import { SILENT } from '../../lib/logger.ts';
import { newSealKey, Sealer } from '../../lib/seal.ts';
import { Peers } from '../controls/peers.ts';
import { NO_NEWS } from '../controls/news.ts';
import type { Router, RouteTable } from '../routes/router.ts';
import type { Store } from '../store.ts';
import { EdgeRecords } from './edge-records.ts';
import { EdgeStreams } from './edge-streams.ts';
import { EdgesRouter } from './edges-router.ts';
import { NO_ANSWERS } from '../../lib/answer-counts.ts';

let folder = '';
let store: Store;
let applied: RouteTable[];
let router: EdgesRouter;
let records: EdgeRecords;
const opened: EdgeStreams[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-edges-'));
  const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };
  store = await createSqlStore({ kind: 'sqlite', file: join(folder, 'tancho.db') }, deps);
  applied = [];
  router = new EdgesRouter({ own: ownRouter(), leaseMs: 60_000, onRefused: () => {} });
  records = new EdgeRecords({ store, server: 'one', now: () => new Date() });
});
afterEach(async () => {
  for (const streams of opened.splice(0)) await streams.close();
  await store.close();
  await rm(folder, { recursive: true });
});

/** The edge of this machine. */
function ownRouter(): Router {
  const traffic = { requests: 7, failures: 1, answers: NO_ANSWERS };
  return {
    ...{ name: 'own', listen: '127.0.0.1:80', tlsListen: null },
    apply: async (table) => void applied.push(table),
    table: async () => applied.at(-1) ?? { version: 0, routes: [] },
    applyCertificates: async () => {},
    certificates: async () => ({ version: 0, ids: [], unusable: [] }),
    drained: async () => 0,
    traffic: async () => traffic,
    trafficOf: async (apps) => new Map(apps.map((app) => [app, traffic])),
    takeAccessLog: async () => [],
    leave: async () => {},
    close: async () => {},
    stop: async () => {},
  };
}

function open(ttlMs: number): EdgeStreams {
  const streams = new EdgeStreams({ store, records, router, refresh: async () => {}, logger: SILENT, ttlMs });
  opened.push(streams);
  return streams;
}

const greeting = { name: 'oslo', instance: 'a'.repeat(16), program: '1', address: '192.0.2.1' };
const table = (version: number): RouteTable => ({ version, routes: [] });
const follows = (streams: EdgeStreams): Promise<void> =>
  until(() => streams.attached.has('oslo'), { what: 'the edge to follow', everyMs: 1 });
const isAlive = async (): Promise<boolean> => (await store.leases('edge:oslo')).some(({ isExpired }) => !isExpired);

it('an edge gets the table that is in force, then each that follows, and is known', async () => {
  const tables: number[] = [];
  const end = new EdgeEnd(({ op, table: given }) => (op === 'apply' ? tables.push((given as RouteTable).version) : {}));
  await router.apply(table(3));
  const streams = open(60_000);
  void streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => true });
  await follows(streams);
  await router.apply(table(4));
  expect(tables).toEqual([3]);
  expect(end.asked.filter((op) => op === 'change')).toHaveLength(1);
  expect(streams.attached.get('oslo')?.tableVersion).toBe(4);
  await until(async () => (await records.all()).length === 1, { what: 'it to be noted' });
  expect(await records.all()).toMatchObject([{ name: 'oslo', server: 'one', lostAt: null }]);
});

it('an edge that gives no sign of life is let go of, and a change waits for it no longer', async () => {
  const end = new EdgeEnd(() => ({}));
  const streams = open(150);
  const carried = streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => true });
  await follows(streams);
  end.isStopped = true;
  await router.apply(table(5));
  await carried;
  expect(end.reason).toBe('no answer in time');
  await until(async () => !(await isAlive()), { what: 'its lease to end', everyMs: 1 });
  expect(await records.all()).toMatchObject([{ name: 'oslo', lostAt: expect.any(String) as string }]);
});

it('the stream ends when the token is revoked', async () => {
  const end = new EdgeEnd(() => ({}));
  const streams = open(30);
  let isAdmitted = true;
  const carried = streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => isAdmitted });
  await follows(streams);
  isAdmitted = false;
  await carried;
  expect(end.reason).toBe('the token was revoked');
});

it('another edge of the same name is refused while the first lives, and the same edge may come again', async () => {
  const first = new EdgeEnd(() => ({}));
  const streams = open(60_000);
  void streams.carry({ greeting, carrier: first.carrier, isAdmitted: async () => true });
  await follows(streams);
  const other = new EdgeEnd(() => ({}));
  await streams.carry({
    greeting: { ...greeting, instance: 'b'.repeat(16) },
    carrier: other.carrier,
    isAdmitted: async () => true,
  });
  expect(other.reason).toBe('another edge has this name');
  const again = new EdgeEnd(() => ({}));
  const before = streams.attached.get('oslo');
  void streams.carry({ greeting, carrier: again.carrier, isAdmitted: async () => true });
  await until(() => streams.attached.get('oslo') !== before && streams.attached.has('oslo'), {
    what: 'it to follow again',
    everyMs: 1,
  });
  expect(first.reason).toBe('the edge has come again');
});

it('a server that stops lets go of an edge that is just coming', async () => {
  const end = new EdgeEnd(() => ({}));
  const streams = open(60_000);
  const carried = streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => true });
  await streams.close();
  await carried;
  expect(end.reason).toBe('the server is stopping');
});

it('a rollout waits for an edge that has lost its server, until that follows again or has left', async () => {
  const peers = new Peers({ store, news: NO_NEWS, owner: null, edges: open(60_000), logger: SILENT });
  const streams = opened[0] ?? expect.fail('no streams');
  const done: string[][] = [];
  peers.on('routes', async (apps) => void done.push([...apps]));
  // It followed a server that is dead now.
  expect(await store.lease('edge:oslo', greeting.instance, 60_000)).not.toBeNull();
  let isOver = false;
  const waiting = peers.all('routes', ['shop'], 60_000).then(() => (isOver = true));
  const end = new EdgeEnd(() => ({}));
  expect(isOver).toBe(false);
  const carried = streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => true });
  await waiting;
  // What was asked of all is done for the one that came.
  expect(done).toEqual([['shop']]);
  end.leave();
  await carried;
  expect(await store.leases('edge:')).toEqual([]);
  await peers.all('routes', ['shop'], 60_000);
  expect(done).toHaveLength(1);
});

it('the end of units waits for the requests of an edge whose connection was lost meanwhile', async () => {
  const streams = open(60_000);
  const lost = new EdgeEnd(({ op }) => (op === 'drained' ? undefined : {}));
  void streams.carry({ greeting, carrier: lost.carrier, isAdmitted: async () => true });
  await follows(streams);
  lost.isStopped = true;
  let open_: number | null = null;
  const drained = router.drained(['u1'], 60_000).then((left) => (open_ = left));
  lost.lose();
  await until(() => !streams.attached.has('oslo'), { what: 'it to be gone', everyMs: 1 });
  expect(open_).toBeNull();
  const again = new EdgeEnd(({ op }) => (op === 'drained' ? 2 : {}));
  void streams.carry({ greeting, carrier: again.carrier, isAdmitted: async () => true });
  await drained;
  expect(open_).toBe(2);
});

it('failures at edges elsewhere are counted from the first question on, also when an edge begins anew', async () => {
  let failures = 10;
  const end = new EdgeEnd(({ op }) => (op === 'traffic' ? { requests: failures, failures, answers: NO_ANSWERS } : {}));
  const streams = open(60_000);
  void streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => true });
  await follows(streams);
  expect((await router.traffic('shop')).failures).toBe(1);
  failures = 13;
  expect((await router.traffic('shop')).failures).toBe(4);
  failures = 2;
  expect((await router.traffic('shop')).failures).toBe(6);
});

it.each(['one that answers for all', 'one of an earlier version'])(
  'what edges elsewhere have counted is asked of all apps at once: %s',
  async (which) => {
    const counts = new Map([['shop', 10]]);
    const counted = (app: string) => ({ requests: counts.get(app) ?? 0, failures: 0, answers: NO_ANSWERS });
    const end = new EdgeEnd(({ op, app }) => {
      if (op === 'traffic') return counted(String(app));
      if (op !== 'all-traffic') return {};
      if (which === 'one of an earlier version') return new Error('no such request');
      return [...counts.keys()].map((name) => [name, counted(name)]);
    });
    const streams = open(60_000);
    void streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => true });
    await follows(streams);
    const requests = async () =>
      [...(await router.trafficOf(['shop', 'blog']))].map(([app, traffic]) => [app, traffic.requests]);
    expect(await requests()).toEqual([
      ['shop', 7],
      ['blog', 7],
    ]);
    counts.set('shop', 13).set('blog', 2);
    expect(await requests()).toEqual([
      ['shop', 10],
      ['blog', 9],
    ]);
  },
);

it.each<[what: string, op: string, answer: unknown]>([
  ['no counts', 'all-traffic', {}],
  ['a count without an app', 'all-traffic', [[null, { requests: 1, failures: 0, answers: NO_ANSWERS }]]],
  ['no count', 'traffic', null],
  ['a count in words', 'traffic', { requests: 1, failures: '1', answers: NO_ANSWERS }],
  ['less than nothing', 'traffic', { requests: -1, failures: 0, answers: NO_ANSWERS }],
  ['times in words', 'traffic', { requests: 1, failures: 0, answers: { ...NO_ANSWERS, times: ['1'] } }],
  ['no list', 'access-log', { length: 1 }],
  ['no entry', 'access-log', [null]],
  ['a time that there is not', 'access-log', [{ app: 'shop', atMs: Number.MAX_VALUE, line: 'path="/"' }]],
  ['a line of any length', 'access-log', [{ app: 'shop', atMs: 1, line: 'a'.repeat(100_000) }]],
])(
  'an edge that answers %s where it is asked for its %s counts for nothing, and is let go of',
  async (_, op, answer) => {
    const end = new EdgeEnd((asked) => (asked.op === op ? answer : {}));
    const streams = open(60_000);
    const carried = streams.carry({ greeting, carrier: end.carrier, isAdmitted: async () => true });
    await follows(streams);
    if (op === 'traffic')
      expect(await router.traffic('shop')).toEqual({ requests: 7, failures: 1, answers: NO_ANSWERS });
    else if (op === 'all-traffic')
      expect((await router.trafficOf(['shop'])).get('shop')).toEqual({ requests: 7, failures: 1, answers: NO_ANSWERS });
    else expect(await router.takeAccessLog()).toEqual([]);
    await carried;
    expect(end.reason).toBe('not what an edge says');
  },
);
