/** A push of an app without dependencies, over both doors, and a change of its environment. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WorkTree } from '../../test/support/git.ts';
import { timed, type Bench, type Measure } from '../bench.ts';
import { nodeStartMs } from '../node-start.ts';
import { pushed, Pusher, type Door, type PushTimes } from '../pushing.ts';
import { PLAIN_APP } from '../sample-apps.ts';

const ROUNDS = 7;
const DOORS: readonly Door[] = ['ssh', 'http'];

interface DoorTimes {
  readonly floorFirst: number[];
  readonly floorAgain: number[];
  readonly first: PushTimes[];
  readonly again: PushTimes[];
}

export const push: Measure = {
  name: 'push',
  about: 'an app without dependencies: first push, re-push without a change, env set',
  async run(bench) {
    const pusher = await Pusher.open(bench, await bench.world());
    const bare = await bareRepository(bench);
    const local: number[] = [];
    const node: number[] = [];
    const env: number[] = [];
    const times = { ssh: noTimes(), http: noTimes() };
    await bench.rounds(ROUNDS, async (round) => {
      for (const door of DOORS) {
        const work = bench.keep(await pusher.workTree(PLAIN_APP));
        const app = `plain-${door}-${round}`;
        if (door === 'ssh') {
          local.push(await pushed(work, bare, `round-${round}`));
          node.push(await nodeStartMs(work.dir));
        }
        await bothPushes(pusher, work, app, door, times[door]);
        if (door === 'ssh') env.push(await timed(() => setEnv(pusher, app, `round ${round}`)));
        await pusher.removeApp(app);
        await bench.dispose(work);
      }
    });
    bench.publish({ what: 'floor: node server.js to its first answer', unit: 'ms', samples: node });
    bench.publish({ what: 'floor: git push to a local directory', unit: 'ms', samples: local });
    for (const door of DOORS) publishDoor(bench, door, times[door], { local, node });
    const floor = { what: 'node start', samples: node };
    bench.publish({ what: 'env set to the restarted app, over the API', unit: 'ms', samples: env, floor });
  },
};

function noTimes(): DoorTimes {
  return { floorFirst: [], floorAgain: [], first: [], again: [] };
}

async function bothPushes(pusher: Pusher, work: WorkTree, app: string, door: Door, times: DoorTimes): Promise<void> {
  await pusher.createApp(`${app}-floor`);
  await pusher.createApp(app);
  times.floorFirst.push(await pusher.pushOnly(work, `${app}-floor`, door));
  times.first.push(await pusher.push(work, app, door));
  await work.commit('nothing changed');
  times.floorAgain.push(await pusher.pushOnly(work, `${app}-floor`, door));
  times.again.push(await pusher.push(work, app, door));
  await pusher.removeApp(`${app}-floor`);
}

function publishDoor(bench: Bench, door: Door, times: DoorTimes, floors: { local: number[]; node: number[] }): void {
  const name = door.toUpperCase();
  const stored = `floor: push over ${name} of a branch that is not deployed`;
  const local = { what: 'local push', samples: floors.local };
  bench.publish({ what: stored, unit: 'ms', samples: times.floorFirst, floor: local });
  const rows = [
    { what: `first push over ${name}`, pushes: times.first, stored: times.floorFirst },
    { what: `re-push over ${name}`, pushes: times.again, stored: times.floorAgain },
  ];
  for (const row of rows) {
    const samples = row.stored.map((ms, index) => ms + (floors.node[index] ?? 0));
    const floor = { what: `${name} push + node start`, samples };
    const answered = row.pushes.map(({ answeredMs }) => answeredMs);
    bench.publish({ what: `${row.what} to the first right answer`, unit: 'ms', samples: answered, floor });
    const returned = row.pushes.map(({ returnedMs }) => returnedMs);
    bench.publish({ what: `${row.what}, git push returns`, unit: 'ms', samples: returned, floor });
  }
}

async function setEnv(pusher: Pusher, app: string, value: string): Promise<void> {
  const { world, token } = pusher;
  const answer = await world.api('POST', `/apps/${app}/env`, { token, body: JSON.stringify({ GREETING: value }) });
  const text = (await world.fetchApp(app)).text;
  if (answer.status !== 200 || !text.endsWith(value))
    throw new Error(`env set: ${answer.status} ${answer.text} ${text}`);
}

async function bareRepository(bench: Bench): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-bench-'));
  bench.keep({ dispose: () => rm(folder, { recursive: true, force: true }) });
  const repository = join(folder, 'bare.git');
  await promisify(execFile)('git', ['init', '-q', '--bare', repository]);
  return repository;
}
