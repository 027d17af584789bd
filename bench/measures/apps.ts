/** What two thousand apps cost whoever lists them, and the next start. */
import type { Bench, Measure } from '../bench.ts';
import { timed } from '../bench.ts';
import { quantile } from '../statistics.ts';
import { createApps } from '../thousand-apps.ts';

const APPS = 2_000;
const LISTS = 300;
const CHANGES = 100;
const STARTS = 3;
/** Asked of the 99th percentile. */
const LIST_MS = 100;
/** Asked of a start. */
export const START_MS = 5_000;

export const apps: Measure = {
  name: 'apps',
  about: 'GET /apps with 2,000 apps, also after each of many changes, and the next start',
  longMs: 300_000,
  async run(bench) {
    const world = await bench.world();
    const token = await world.login();
    await createApps(world, token, APPS);
    const list = async (): Promise<void> => {
      const found = (await world.api('GET', '/apps', { token })).json<unknown[]>().length;
      if (found !== APPS) throw new Error(`${found} apps in place of ${APPS}`);
    };
    await list();
    publishList(bench, `GET /apps, ${APPS} apps`, await samplesOf(LISTS, list));
    const afterChanges = await samplesOf(CHANGES, list, async (index) => {
      const body = JSON.stringify({ description: `change ${index}` });
      const changed = await world.api('PUT', `/apps/listed-${index}`, { token, body });
      if (changed.status !== 200) throw new Error(`changing an app: ${changed.status} ${changed.text}`);
    });
    publishList(bench, `GET /apps right after a change, ${APPS} apps`, afterChanges);
    const starts = await samplesOf(
      STARTS,
      async () => world.startAgain().then(list),
      () => world.end('SIGKILL'),
    );
    bench.publish({
      what: `start after kill -9, ${APPS} apps, until they are listed`,
      unit: 'ms',
      samples: starts,
      most: START_MS,
    });
  },
};

/** `before` is not timed. */
export async function samplesOf(
  count: number,
  work: () => Promise<void>,
  before: (index: number) => Promise<void> = async () => undefined,
): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < count; index++) {
    await before(index);
    samples.push(await timed(work));
  }
  return samples;
}

export function publishList(bench: Bench, what: string, samples: readonly number[]): void {
  bench.publish({ what, unit: 'ms', samples: [...samples] });
  bench.publish({ what: `${what}: p99`, unit: 'ms', samples: [quantile(samples, 0.99)], most: LIST_MS });
}
