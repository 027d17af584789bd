/** What a network of its own costs each unit: the same pushes and the same requests, in turns, to servers of which half leave their units in the machine's. */
import type { Bench, Measure } from '../bench.ts';
import { Apart, type Loaded } from '../networks/apart.ts';
import type { PushTimes } from '../pushing.ts';

const PUSHES = 6;
const ROUNDS = 8;
const SECONDS = 2;
/** Until what is called often has been compiled on both sides: a colder server is slower by more than what is looked for. */
const WARM_SECONDS = 6;
const MOST_MS = 240_000;
const SHARED = 'network shared';

/** Servers of one kind. Where a process lies in memory makes it up to a tenth faster or slower than its like for as long as it lives. */
interface Side {
  readonly servers: Apart[];
  readonly pushes: PushTimes[];
  readonly loads: Loaded[];
  /** On a machine with a firewall of its own. */
  readonly guarded: Loaded[];
}

export const networks: Measure = {
  name: 'networks',
  about: 'pushes and requests with networks of their own, beside the same in the network of the machine',
  longMs: MOST_MS,
  async run(bench) {
    if (process.getuid?.() !== 0) return bench.note('no figures of networks of their own: they take root');
    const [own, shared] = [noSide(), noSide()];
    for (const [side, network] of [
      [own, 'auto'],
      [shared, 'shared'],
      [shared, 'shared'],
      [own, 'auto'],
    ] as const)
      side.servers.push(await Apart.open(bench, network));
    if (!(await own.servers[0]?.hasOwnNetworks())) {
      return bench.note('no figures of networks of their own: this machine has none (iproute2, nftables)');
    }
    // Who comes second in a round finds the machine in another state than who comes first.
    const inTurn = (round: number): Side[] => (round % 2 === 0 ? [own, shared] : [shared, own]);
    const each = async (round: number, work: (side: Side, server: Apart) => Promise<unknown>): Promise<void> => {
      for (const side of inTurn(round)) for (const server of side.servers) await work(side, server);
    };
    await bench.rounds(PUSHES, (round) => each(round, async ({ pushes }, server) => pushes.push(await server.push())));
    await each(0, (_, server) => server.load(WARM_SECONDS));
    await bench.rounds(ROUNDS, (round) =>
      each(round, async ({ loads }, server) => loads.push(await server.load(SECONDS))),
    );
    await each(0, (_, server) => server.addFirewall());
    await bench.rounds(ROUNDS, (round) =>
      each(round, async ({ guarded }, server) => guarded.push(await server.load(SECONDS))),
    );
    publish(bench, own, shared);
  },
};

function noSide(): Side {
  return { servers: [], pushes: [], loads: [], guarded: [] };
}

function publish(bench: Bench, own: Side, shared: Side): void {
  const row = (what: string, unit: 'ms' | 'req/s', of: (one: Side) => number[]): void =>
    bench.publish({ what, unit, samples: of(own), floor: { what: SHARED, samples: of(shared) } });
  row('push to the first answer, networks of their own', 'ms', ({ pushes }) => pushes.map((push) => push.answeredMs));
  row('push until git has returned', 'ms', ({ pushes }) => pushes.map((push) => push.returnedMs));
  const edgeMs = (of: Loaded): number => (of.edgeMs * 1_000) / of.load.count;
  row('100 B through the edge', 'req/s', ({ loads }) => loads.map(({ load }) => load.perSecond));
  row('100 B through the edge: p99', 'ms', ({ loads }) => loads.map(({ load }) => load.p99Ms));
  row('processor time of the edge for 1,000 requests', 'ms', ({ loads }) => loads.map(edgeMs));
  row('beside a firewall of the machine: 100 B', 'req/s', ({ guarded }) => guarded.map(({ load }) => load.perSecond));
  row('beside a firewall of the machine: edge for 1,000', 'ms', ({ guarded }) => guarded.map(edgeMs));
}
