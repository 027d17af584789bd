/** A push of an app with packages: from the registry, from the app's own warm cache, and with unchanged packages. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkTree } from '../../test/support/git.ts';
import { run } from '../../test/support/world.ts';
import { timed, type Bench, type Measure } from '../bench.ts';
import { nodeStartMs } from '../node-start.ts';
import { Pusher, type PushTimes } from '../pushing.ts';
import { expressApp } from '../sample-apps.ts';

const ROUNDS = 5;
const APP = 'express';

export const express: Measure = {
  name: 'express',
  about: 'an app with express: packages with a warm cache, and unchanged packages',
  async run(bench) {
    const pusher = await Pusher.open(bench, await bench.world());
    const files = await expressApp();
    const work = bench.keep(await pusher.workTree({ ...files, '.gitignore': 'node_modules\n' }));
    await pusher.createApp(APP);
    const cold = await pusher.push(work, APP, 'ssh');
    const times = { stored: [] as number[], node: [] as number[], npm: [] as number[] };
    const warm: PushTimes[] = [];
    const again: PushTimes[] = [];
    await npmCi(work);
    await bench.rounds(ROUNDS, async (round) => {
      times.npm.push(await timed(() => npmCi(work)));
      times.node.push(await nodeStartMs(work.dir));
      await work.write({ 'package.json': withAnotherKey(files['package.json'] ?? '', round) });
      await work.commit('packages to be installed anew');
      times.stored.push(await pusher.pushOnly(work, APP, 'ssh'));
      warm.push(await pusher.push(work, APP, 'ssh'));
      await work.commit('nothing changed');
      again.push(await pusher.push(work, APP, 'ssh'));
    });
    publish(bench, times, { cold, warm, again });
  },
};

interface Floors {
  readonly stored: readonly number[];
  readonly node: readonly number[];
  readonly npm: readonly number[];
}

interface Pushes {
  readonly cold: PushTimes;
  readonly warm: readonly PushTimes[];
  readonly again: readonly PushTimes[];
}

function publish(bench: Bench, { stored, node, npm }: Floors, { cold, warm, again }: Pushes): void {
  const answered = (pushes: readonly PushTimes[]): number[] => pushes.map(({ answeredMs }) => answeredMs);
  const base = stored.map((ms, index) => ms + (node[index] ?? 0));
  const installing = base.map((ms, index) => ms + (npm[index] ?? 0));
  const floor = { what: 'SSH push + node start', samples: base };
  bench.publish({ what: 'floor: node server.js with express to its first answer', unit: 'ms', samples: node });
  bench.publish({ what: 'floor: npm ci by hand, warm cache', unit: 'ms', samples: npm });
  bench.publish({ what: 'first push, packages from the registry', unit: 'ms', samples: answered([cold]), floor });
  bench.publish({ what: 'push with a warm cache, packages installed', unit: 'ms', samples: answered(warm), floor });
  bench.publish({
    what: 'same, beside npm ci by hand as well',
    unit: 'ms',
    samples: answered(warm),
    floor: { what: 'SSH push + npm ci + node start', samples: installing },
  });
  bench.publish({ what: 're-push, packages unchanged', unit: 'ms', samples: answered(again), floor });
}

async function npmCi(work: WorkTree): Promise<void> {
  await rm(join(work.dir, 'node_modules'), { recursive: true, force: true });
  const args = ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const ran = await run('npm', args, {
    cwd: work.dir,
    env: { ...env, npm_config_cache: join(work.dir, '.git', 'npm') },
  });
  if (ran.code !== 0) throw new Error(`npm ci failed: ${ran.stderr}`);
}

/** A field that belongs to what decides the packages, and changes none of them. */
function withAnotherKey(text: string, round: number): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), engines: { node: `>=18.${round}` } });
}
