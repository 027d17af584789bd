/** What twenty apps under a steady load notice of one beside them that tries to take everything there is. */
import { GREEDS } from '../../test/support/greedy-app.ts';
import { Neighbours } from '../../test/support/neighbours.ts';
import type { ApartResult } from '../../test/support/load-apart.ts';
import type { Bench, Measure } from '../bench.ts';
import { quantile } from '../statistics.ts';

/** Of deploys of some of the twenty, within each part. */
const DEPLOYS = 10;
const PARTS = 3;
const WITHOUT = 'without it';

export const neighbours: Measure = {
  name: 'neighbours',
  about: '20 apps at 200 requests a second, and deploys of them, beside an app that takes all it can',
  longMs: 900_000,
  async run(bench) {
    const twenty = await Neighbours.open();
    if (typeof twenty === 'string') return bench.note(`no figures of a greedy neighbour: ${twenty}`);
    bench.keep(twenty);
    let round = 0;
    const part = async (): Promise<ApartResult> => {
      const load = await twenty.ask();
      for (let deploy = 0; deploy < DEPLOYS; deploy += 1) await twenty.deploysOfOthers(++round);
      return load.stop();
    };
    const [before, during]: ApartResult[][] = [[], []];
    await bench.rounds(PARTS, async () => void before?.push(await part()));
    await twenty.beginGreedy();
    await bench.rounds(PARTS, async () => void during?.push(await part()));
    await twenty.endBuilds();
    publish(bench, before ?? [], during ?? []);
  },
};

function publish(bench: Bench, before: readonly ApartResult[], during: readonly ApartResult[]): void {
  const row = (what: string, of: (one: ApartResult) => number): void =>
    bench.publish({ what, unit: 'ms', samples: during.map(of), floor: { what: WITHOUT, samples: before.map(of) } });
  const overall = (parts: readonly ApartResult[]): number[] => {
    const all = parts.flatMap(({ latenciesMs }) => latenciesMs);
    return all.length === 0 ? [] : [quantile(all, 0.99)];
  };
  const floor = { what: WITHOUT, samples: overall(before) };
  bench.publish({ what: '20 apps beside a greedy one: p99 of all', unit: 'ms', samples: overall(during), floor });
  row('20 apps beside a greedy one: p99 of parts', ({ latencyMs }) => latencyMs.p99);
  row('20 apps beside a greedy one: median', ({ latencyMs }) => latencyMs.median);
  row('20 apps beside a greedy one: longest', ({ latencyMs }) => latencyMs.longest);
  const failed = [...before, ...during].reduce((sum, { failures }) => sum + failures.length, 0);
  const asked = during.reduce((sum, { requests }) => sum + requests, 0);
  bench.note(`beside a greedy app (${GREEDS.join(' ')}): ${asked} requests; ${failed} failed in all`);
}
