/** What a network of its own costs each unit: the same pushes and the same requests, in turns, to two servers, one of which leaves its units in the machine's. */
import type { Bench, Measure } from '../bench.ts';
import { Apart, type Loaded } from '../networks/apart.ts';
import type { PushTimes } from '../pushing.ts';

const PUSHES = 12;
const ROUNDS = 12;
const SECONDS = 4;
/** Until what is called often has been compiled on both sides: a colder server is slower by more than what is looked for. */
const WARM_SECONDS = 10;
const MOST_MS = 240_000;
const SHARED = 'network shared';

interface Side {
  readonly server: Apart;
  readonly pushes: PushTimes[];
  readonly loads: Loaded[];
}

export const networks: Measure = {
  name: 'networks',
  about: 'pushes and requests with networks of their own, beside the same in the network of the machine',
  longMs: MOST_MS,
  async run(bench) {
    if (process.getuid?.() !== 0) return bench.note('no figures of networks of their own: they take root');
    const [own, shared] = [await side(bench, 'auto'), await side(bench, 'shared')];
    // Who comes second in a round finds the machine in another state than who comes first.
    const inTurn = (round: number): Side[] => (round % 2 === 0 ? [own, shared] : [shared, own]);
    if (!(await own.server.hasOwnNetworks())) {
      return bench.note('no figures of networks of their own: this machine has none (iproute2, nftables)');
    }
    await bench.rounds(PUSHES, async (round) => {
      for (const { server, pushes } of inTurn(round)) pushes.push(await server.push());
    });
    for (const { server } of [own, shared]) await server.load(WARM_SECONDS);
    await bench.rounds(ROUNDS, async (round) => {
      for (const { server, loads } of inTurn(round)) loads.push(await server.load(SECONDS));
    });
    publish(bench, own, shared);
  },
};

async function side(bench: Bench, network: string): Promise<Side> {
  return { server: await Apart.open(bench, network), pushes: [], loads: [] };
}

function publish(bench: Bench, own: Side, shared: Side): void {
  const row = (what: string, unit: 'ms' | 'req/s', of: (one: Side) => number[]): void =>
    bench.publish({ what, unit, samples: of(own), floor: { what: SHARED, samples: of(shared) } });
  row('push to the first answer, networks of their own', 'ms', ({ pushes }) => pushes.map((push) => push.answeredMs));
  row('push until git has returned', 'ms', ({ pushes }) => pushes.map((push) => push.returnedMs));
  row('100 B through the edge', 'req/s', ({ loads }) => loads.map(({ load }) => load.perSecond));
  row('100 B through the edge: p99', 'ms', ({ loads }) => loads.map(({ load }) => load.p99Ms));
  row('processor time of the edge for 1,000 requests', 'ms', ({ loads }) =>
    loads.map(({ edgeMs, load }) => (edgeMs * 1_000) / load.count),
  );
}
