/** What a network of its own costs each unit: the same pushes and the same requests to two servers, one of which leaves its units in the machine's, in turns. */
import type { WorkTree } from '../../test/support/git.ts';
import { edgePid, type World } from '../../test/support/world.ts';
import type { Bench, Measure } from '../bench.ts';
import { load, type LoadResult } from '../http-load.ts';
import { cpuMs, family } from '../process-use.ts';
import { Pusher, type PushTimes } from '../pushing.ts';
import { PLAIN_APP } from '../sample-apps.ts';

const APP = 'target';
const PUSHES = 12;
const ROUNDS = 40;
const CONNECTIONS = 32;
const SECONDS = 1;
const MOST_MS = 180_000;
const HEAD = ['GET /100 HTTP/1.1', `Host: ${APP}.localhost`];
const SHARED = 'network shared';

interface Side {
  readonly world: World;
  readonly pusher: Pusher;
  readonly work: WorkTree;
  readonly pushes: PushTimes[];
  readonly loads: LoadResult[];
  /** Of the edge, for a thousand requests. */
  readonly edgeMs: number[];
}

export const networks: Measure = {
  name: 'networks',
  about: 'pushes and requests with networks of their own, beside the same in the network of the machine',
  longMs: MOST_MS,
  async run(bench) {
    const [own, shared] = [await side(bench, 'auto'), await side(bench, 'shared')];
    // Who comes second in a round finds the machine in another state than who comes first.
    const inTurn = (round: number): Side[] => (round % 2 === 0 ? [own, shared] : [shared, own]);
    if (!own.world.output().includes('networks: own')) {
      bench.note('no figures of networks of their own: this machine has none (root, iproute2, nftables)');
      return;
    }
    await bench.rounds(PUSHES, async (round) => {
      for (const one of inTurn(round)) {
        // Git sends nothing of what is there already.
        await one.work.commit('nothing changed');
        one.pushes.push(await one.pusher.push(one.work, APP, 'ssh'));
      }
    });
    for (const one of [own, shared]) await loaded(one, SECONDS / 2);
    await bench.rounds(ROUNDS, async (round) => {
      for (const one of inTurn(round)) await measured(one);
    });
    publish(bench, own, shared);
  },
};

async function side(bench: Bench, network: string): Promise<Side> {
  const world = await bench.world({ env: { TANCHO_NETWORK: network, TANCHO_EDGE_WORKERS: '1' } });
  const pusher = await Pusher.open(bench, world);
  const work = bench.keep(await pusher.workTree(PLAIN_APP));
  await pusher.createApp(APP);
  await pusher.push(work, APP, 'ssh');
  return { world, pusher, work, pushes: [], loads: [], edgeMs: [] };
}

function loaded({ world }: Side, seconds: number): Promise<LoadResult> {
  return load({ port: Number(world.edge.split(':')[1]), head: HEAD, connections: CONNECTIONS, seconds });
}

async function measured(one: Side): Promise<void> {
  const edge = family(await edgePid(one.world));
  const before = await processorMs(edge);
  const result = await loaded(one, SECONDS);
  one.loads.push(result);
  one.edgeMs.push((await processorMs(edge)) - before);
}

async function processorMs(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(cpuMs));
  return each.reduce((sum, ms) => sum + ms, 0);
}

function publish(bench: Bench, own: Side, shared: Side): void {
  const row = (what: string, unit: 'ms' | 'req/s', of: (one: Side) => number[]): void =>
    bench.publish({ what, unit, samples: of(own), floor: { what: SHARED, samples: of(shared) } });
  row('push to the first answer, networks of their own', 'ms', ({ pushes }) => pushes.map((push) => push.answeredMs));
  row('push until git has returned', 'ms', ({ pushes }) => pushes.map((push) => push.returnedMs));
  row('100 B through the edge', 'req/s', ({ loads }) => loads.map((result) => result.perSecond));
  row('100 B through the edge: p99', 'ms', ({ loads }) => loads.map((result) => result.p99Ms));
  row('processor time of the edge for 1,000 requests', 'ms', ({ loads, edgeMs }) =>
    edgeMs.map((ms, at) => (ms * 1_000) / ((loads[at]?.perSecond ?? 1) * SECONDS)),
  );
}
