/** A push to a pool in a cluster, to its first answer, beside the same pod applied by hand: what the platform adds to what Kubernetes takes. */
import { setTimeout as pause } from 'node:timers/promises';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';
import { withoutCluster } from '../../test/cluster/cluster.ts';
import setUpCluster from '../../test/cluster/setup.ts';
import { CLUSTER_POOL, type WorldCluster } from '../../test/support/world-engine.ts';
import { type Bench, type Measure, timed } from '../bench.ts';
import { Pusher } from '../pushing.ts';
import { PLAIN_APP } from '../sample-apps.ts';

const ROUNDS = 7;
const APP = 'shop';
const LOOK_MS = 4;
const PATIENCE_MS = 120_000;

export const kubernetes: Measure = {
  name: 'kubernetes',
  about: 'a push to a pool in a real cluster on this machine, to its first answer, beside the same pod applied by hand',
  longMs: 2_400_000,
  async run(bench) {
    const missing = withoutCluster();
    if (missing !== '') return bench.note(`no cluster: ${missing}`);
    bench.keep({ dispose: await setUpCluster() });
    const world = await bench.world({ hasCluster: true });
    const { cluster } = world;
    if (cluster === null) throw new Error('the server has no cluster');
    const pusher = await Pusher.open(bench, world);
    const made = await world.api('POST', '/apps', {
      token: pusher.token,
      body: JSON.stringify({ name: APP, platform: 'nodejs', pool: CLUSTER_POOL }),
    });
    if (made.status !== 200) throw new Error(made.text);
    const work = bench.keep(await pusher.workTree(PLAIN_APP));
    await pusher.push(work, APP, 'ssh');
    const [pushes, applied]: [number[], number[]] = [[], []];
    await bench.rounds(ROUNDS, async (round) => {
      await work.write({ 'version.txt': `${round}` });
      await work.commit();
      pushes.push((await pusher.push(work, APP, 'ssh')).answeredMs);
      applied.push(await applyAgain(bench, cluster, round));
    });
    const floor = { what: 'the same pod applied', samples: applied };
    bench.publish({ what: 'push to the first answer, in a cluster', unit: 'ms', samples: pushes, floor });
    const beyond = pushes.map((ms, round) => Math.max(0, ms - (applied[round] ?? 0)));
    bench.publish({ what: 'the same: beyond the pod (promised: 3,000)', unit: 'ms', samples: beyond });
  },
};

/** The pod of the app under a name of its own, with the image that is on its node by now, until it answers. */
async function applyAgain(bench: Bench, { client, namespace }: WorldCluster, round: number): Promise<number> {
  const { items } = await client.list(KINDS.pods, { namespace });
  const running = items.find(
    ({ status, metadata }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined,
  );
  if (running === undefined) throw new Error('the app has no pod');
  const { nodeName: _node, ...spec } = running.spec;
  const what = { name: `by-hand-${round}`, namespace };
  const ms = await timed(async () => {
    await client.apply(KINDS.pods, { metadata: what, spec } as Pod);
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const host = (await client.get(KINDS.pods, what))?.status?.podIP ?? '';
      if (host !== '' && (await answers(host))) return;
      if (performance.now() > until) throw new Error('the pod that was applied does not answer');
      await pause(LOOK_MS);
    }
  });
  await client.delete(KINDS.pods, what, { graceSeconds: 1 });
  bench.note(`round ${round + 1}: applied ${Math.round(ms)} ms`);
  return ms;
}

function answers(host: string): Promise<boolean> {
  return fetch(`http://${host}:8080/`, { headers: { connection: 'close' } }).then(
    ({ ok }) => ok,
    () => false,
  );
}
