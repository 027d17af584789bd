/** What the platform uses while nothing happens, without apps and with ten, and a restart with ten apps running. */
import { setTimeout as delay } from 'node:timers/promises';
import { edgePid, type World } from '../../test/support/world.ts';
import { timed, type Bench, type Measure } from '../bench.ts';
import { cpuMs, family, memoryOf, type Memory } from '../process-use.ts';
import { Pusher } from '../pushing.ts';
import { isStart, PLAIN_APP } from '../sample-apps.ts';

const APPS = 10;
const SETTLE_MS = 5_000;
const CPU_MS = 5_000;
const RESTARTS = 5;

export const idle: Measure = {
  name: 'idle',
  about: 'memory and processor time of an idle platform, and a restart with ten apps',
  async run(bench) {
    const world = await bench.world();
    await delay(SETTLE_MS);
    await publishMemory(bench, world, 'after the start');
    await publishCpu(bench, world, 'without apps');
    const pusher = await Pusher.open(bench, world);
    for (let index = 0; index < APPS; index++) await pusher.deploy(`app-${index}`, PLAIN_APP);
    await delay(SETTLE_MS);
    await publishMemory(bench, world, `with ${APPS} apps`);
    await publishCpu(bench, world, `with ${APPS} apps`);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) await publishRestarts(bench, world, signal);
  },
};

async function publishMemory(bench: Bench, world: World, when: string): Promise<void> {
  const control = await memoryOf(world.pid);
  const edges = await Promise.all(family(await edgePid(world)).map(memoryOf));
  const edge = { rssMb: sum(edges, 'rssMb'), pssMb: sum(edges, 'pssMb') };
  for (const [name, { rssMb, pssMb }] of [
    ['control', control],
    ['edge', edge],
  ] as const) {
    bench.publish({ what: `RSS of ${name} ${when}`, unit: 'MB', samples: [rssMb] });
    bench.publish({ what: `PSS of ${name} ${when}`, unit: 'MB', samples: [pssMb] });
  }
  bench.publish({ what: `RSS of both ${when}`, unit: 'MB', samples: [control.rssMb + edge.rssMb] });
}

function sum(all: readonly Memory[], key: keyof Memory): number {
  return all.reduce((total, one) => total + one[key], 0);
}

/** Per cent of one processor. */
async function publishCpu(bench: Bench, world: World, when: string): Promise<void> {
  const used = async (): Promise<number> => (await cpuMs(world.pid)) + (await cpuMs(await edgePid(world)));
  const begun = performance.now();
  const before = await used();
  await delay(CPU_MS);
  const share = ((await used()) - before) / (performance.now() - begun);
  bench.publish({ what: `processor time of both ${when}`, unit: '%', samples: [share * 100] });
}

async function publishRestarts(bench: Bench, world: World, signal: NodeJS.Signals): Promise<void> {
  const ready: number[] = [];
  await bench.rounds(RESTARTS, async () => {
    await world.end(signal);
    ready.push(await timed(() => world.startAgain()));
    const { text } = await world.fetchApp('app-0');
    if (!isStart(text)) throw new Error(`an app does not answer after a restart: ${text}`);
  });
  bench.publish({ what: `restart after ${signal} to ready, ${APPS} apps running`, unit: 'ms', samples: ready });
}
