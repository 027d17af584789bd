/**
 * Edges on each of two real nodes (`tancho install kubernetes --edges nodes`) behind a balancer that asks for their health: they are upgraded one node
 * after the other, then one node loses its power, and comes back (TANCHO_TEST_CHAOS=1).
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import { until } from '../support/until.ts';
import { request } from '../support/world.ts';
import { BalancedLoad } from './balanced-load.ts';
import { describeLost, isExcused } from './chaos-verdict.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { watchHealth } from './health-watch.ts';
import { APPS, Installed, NAMESPACE } from './installed.ts';
import type { Kill } from './kills.ts';
import { isPodReady } from './node.ts';
import { buildServers } from './program.ts';
import { startTimeline } from './timeline.ts';

const APP = 'page';
const PER_SECOND = 100;
const CONNECTIONS = 20;
const LOST_AFTER_SECONDS = 20;
const MORE_REQUESTS = 500;
const WAIT_MS = 180_000;
/** Whose connection is cut off hears of it a moment later. */
const HEARD_MS = 50;

let cluster: Cluster;
let platform: Installed | null = null;
let edges: readonly string[] = [];

const upgradeEdges = async (token: string): Promise<void> => {
  const made = await installed().cli(['edge', 'token-create', token]);
  expect(made.code, made.stderr).toBe(0);
  const image = await installed().image('1');
  await installed().apply(image, ['--edges', 'nodes'], { TANCHO_EDGE_TOKEN: made.stdout.trim() });
  await installed().isUp('DaemonSet', 'tancho-edges');
  await installed().isAvailable('tancho-edges');
};
const installed = (): Installed => platform ?? expect.fail('there is no PostgreSQL');
const isServed = async (edge: string): Promise<boolean> => {
  const headers = { host: `${APP}.localhost` };
  const answer = await request(`http://${edge}`, 'GET', '/', { headers }).catch(() => null);
  return answer?.status === 200;
};

beforeAll(async () => {
  const built = await buildServers();
  if (typeof built === 'string') throw new Error(built);
  cluster = await startCluster(built.program, { nodes: 2, lostAfterSeconds: LOST_AFTER_SECONDS });
  edges = cluster.nodes.map(({ outside }) => `${outside}:80`);
  platform = await Installed.prepare({ ...cluster, registry: cluster.registry.host });
  await installed().apply(await installed().image('1'));
  await installed().isUp('Deployment', 'tancho');
  await installed().login();
  for (const args of [
    ['app', 'create', APP, 'nodejs'],
    ['deploy', '-a', APP, '--image', installed().page],
    ['unit', 'add', '1', '-a', APP],
    ['edge', 'set', 'redirect-https=off', '-a', APP],
  ]) {
    const ran = await installed().cli(args);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  }
  await upgradeEdges('first');
  for (const edge of edges) await until(() => isServed(edge), { what: `${edge} to serve`, timeoutMs: WAIT_MS });
}, 600_000);

afterAll(async () => {
  await platform?.dispose();
  await cluster?.close();
});

it('an upgrade of the edges of two nodes, and the loss of one of them, fail no request but those under way in what is lost', async () => {
  const timeline = await startTimeline(cluster.client, NAMESPACE);
  const health = watchHealth(edges);
  const how = { perSecond: PER_SECOND, connections: CONNECTIONS, away: health.away };
  const load = new BalancedLoad({ edges, apps: [APP], ...how });
  const more = async (): Promise<void> => {
    const { requests } = load;
    await until(() => load.requests > requests + MORE_REQUESTS, { what: 'more requests' });
  };
  const isBack = (number: number, times: number): Promise<void> =>
    until(() => health.away.size === 0 && (health.returns[number] ?? 0) >= times, {
      what: `the balancer to take node ${number + 1} back`,
      timeoutMs: WAIT_MS,
      detail: () => timeline.text().slice(-5_000),
    });
  const since = performance.now();
  const say = (what: string): void =>
    console.log(
      `${((performance.now() - since) / 1_000).toFixed(1)} s: ${what}; ${load.requests} requests, ${load.lost.length} lost`,
    );
  const kills: Kill[] = [];
  try {
    await more();
    const before = await installed().edgePods();
    expect(before).toHaveLength(edges.length);
    await upgradeEdges('second');
    const after = await installed().edgePods();
    expect(after).toHaveLength(edges.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    for (const number of edges.keys()) await isBack(number, 1);
    await more();
    say('both nodes have new edges');
    expect(load.lost).toEqual([]);

    const [, node = expect.fail('one node')] = cluster.nodes;
    const begun = performance.now();
    await node.kill();
    const gone = performance.now() + HEARD_MS;
    kills.push({ kind: 'node', what: node.name, begun, gone, edge: 1, hasUnits: true });
    await until(() => health.away.has(1), { what: 'the balancer to leave the node out' });
    say(`${node.name} is left out`);
    const isElsewhere = async (): Promise<boolean> => {
      const { items } = await cluster.client.list(KINDS.pods, { namespace: APPS });
      return items.filter((pod) => isPodReady(pod) && pod.spec.nodeName !== node.name).length >= 2;
    };
    await until(isElsewhere, { what: 'its unit to run elsewhere', timeoutMs: WAIT_MS, everyMs: 100 });
    say('its unit runs elsewhere');
    await node.startAgain();
    await isBack(1, 2);
    await more();
    say(`${node.name} is back`);
  } finally {
    await load.stop();
    await health.stop();
    const failed = load.lost.filter((one) => !kills.some((kill) => isExcused(one, kill)));
    if (failed.length > 0) console.log(timeline.text());
    await timeline.close();
  }
  console.log(describeLost(load.lost, kills).join('\n'));
  const excused = load.lost.filter((one) => kills.some((kill) => isExcused(one, kill)));
  console.log(
    `${load.requests} requests, the latest ${load.latestMs} ms late, ${load.lost.length} lost, ${excused.length} of them under way in what was lost`,
  );
  expect(load.lost.filter((one) => !excused.includes(one))).toEqual([]);
}, 900_000);
