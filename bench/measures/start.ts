/** From starting the program in an empty home to being ready, and to the first URL of the sample app. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '../../test/support/until.ts';
import { timed, type Bench, type Measure } from '../bench.ts';

const ROUNDS = 5;
const WELCOME_ROUNDS = 3;
const WELCOME_MS = 60_000;

export const start: Measure = {
  name: 'start',
  about: 'first start of an empty home, and the first URL of the welcome sample',
  async run(bench) {
    const ready: number[] = [];
    const node: number[] = [];
    await bench.rounds(ROUNDS, async () => {
      node.push(await timed(bareNode));
      const begun = performance.now();
      const world = await bench.world();
      ready.push(performance.now() - begun);
      await bench.dispose(world);
    });
    const floor = { what: 'starting node itself', samples: node };
    bench.publish({ what: 'first start to ready', unit: 'ms', samples: ready, floor });
    const answered: number[] = [];
    await bench.rounds(WELCOME_ROUNDS, async () => {
      answered.push(await firstUrl(bench));
    });
    bench.publish({ what: 'first start to the first URL (npm start)', unit: 'ms', samples: answered });
  },
};

async function bareNode(): Promise<void> {
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
}

async function firstUrl(bench: Bench): Promise<number> {
  const begun = performance.now();
  const world = await bench.world({ flags: ['--welcome'] });
  const output = (): string => world.output();
  await until(
    () => {
      if (output().includes('could not be deployed')) throw new Error(output());
      return output().includes('The sample app answers');
    },
    { timeoutMs: WELCOME_MS, everyMs: 4, what: 'the sample app', detail: output },
  );
  const took = performance.now() - begun;
  await bench.dispose(world);
  return took;
}
