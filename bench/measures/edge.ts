/** Requests to an app through the edge, beside the same requests straight to the app's process. */
import type { Measure } from '../bench.ts';
import { load, type LoadResult } from '../http-load.ts';
import { Pusher } from '../pushing.ts';
import { PLAIN_APP } from '../sample-apps.ts';
import { publishLoad } from './api.ts';

const APP = 'target';
const SIZES = [
  { bytes: 100, name: '100 B' },
  { bytes: 65_536, name: '64 KB' },
];
const CONNECTIONS = 32;
const SECONDS = 1;
const ROUNDS = 5;

export const edge: Measure = {
  name: 'edge',
  about: 'requests a second and latency through the edge, 100 B and 64 KB',
  async run(bench) {
    // The floor is asked at loopback, so the app must listen there.
    const world = await bench.world({ env: { TANCHO_NETWORK: 'shared' } });
    const pusher = await Pusher.open(bench, world);
    await pusher.deploy(APP, PLAIN_APP);
    const direct = Number((await world.fetchApp(APP, '/port')).text);
    const through = Number(world.edge.split(':')[1]);
    for (const { bytes, name } of SIZES) {
      const head = [`GET /${bytes} HTTP/1.1`, `Host: ${APP}.localhost`];
      const under = (port: number, seconds: number): Promise<LoadResult> =>
        load({ port, head, connections: CONNECTIONS, seconds });
      const results: LoadResult[] = [];
      const floor: LoadResult[] = [];
      for (const port of [through, direct]) await under(port, SECONDS / 2);
      await bench.rounds(ROUNDS, async () => {
        results.push(await under(through, SECONDS));
        floor.push(await under(direct, SECONDS));
      });
      publishLoad(bench, `${name} through the edge`, results, { what: 'straight to the app', results: floor });
    }
  },
};
