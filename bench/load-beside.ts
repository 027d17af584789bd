/** The same requests to an app through the edge and past it, in turns. */
import type { World } from '../test/support/world.ts';
import type { Bench } from './bench.ts';
import { load, type LoadResult } from './http-load.ts';
import { Pusher } from './pushing.ts';
import { PLAIN_APP } from './sample-apps.ts';

const APP = 'target';
const SIZES = [
  { bytes: 100, name: '100 B' },
  { bytes: 65_536, name: '64 KB' },
];
const CONNECTIONS = 32;
const SECONDS = 1;
const ROUNDS = 5;

export interface LoadedApp {
  readonly world: World;
  /** Where it listens on loopback. */
  readonly port: number;
}

/** An app that anybody on this machine can reach, not only the edge, behind an edge of one worker. */
export async function loadedApp(bench: Bench): Promise<LoadedApp> {
  const world = await bench.world({ env: { TANCHO_NETWORK: 'shared', TANCHO_EDGE_WORKERS: '1' } });
  await (await Pusher.open(bench, world)).deploy(APP, PLAIN_APP);
  return { world, port: Number((await world.fetchApp(APP, '/port')).text) };
}

export async function publishLoadBeside(
  bench: Bench,
  world: World,
  beside: { readonly what: string; readonly port: number },
): Promise<void> {
  const through = Number(world.edge.split(':')[1]);
  for (const { bytes, name } of SIZES) {
    const head = [`GET /${bytes} HTTP/1.1`, `Host: ${APP}.localhost`];
    const under = (port: number, seconds: number): Promise<LoadResult> =>
      load({ port, head, connections: CONNECTIONS, seconds });
    const results: LoadResult[] = [];
    const floor: LoadResult[] = [];
    for (const port of [through, beside.port]) await under(port, SECONDS / 2);
    await bench.rounds(ROUNDS, async () => {
      results.push(await under(through, SECONDS));
      floor.push(await under(beside.port, SECONDS));
    });
    publishLoad(bench, `${name} through the edge`, results, { what: beside.what, results: floor });
  }
}

export function publishLoad(
  bench: Bench,
  what: string,
  results: readonly LoadResult[],
  floor: { readonly what: string; readonly results: readonly LoadResult[] },
): void {
  const rows = [
    { name: what, unit: 'req/s', key: 'perSecond' },
    { name: `${what}: p50`, unit: 'ms', key: 'p50Ms' },
    { name: `${what}: p99`, unit: 'ms', key: 'p99Ms' },
  ] as const;
  for (const { name, unit, key } of rows) {
    const below = { what: floor.what, samples: floor.results.map((result) => result[key]) };
    bench.publish({ what: name, unit, samples: results.map((result) => result[key]), floor: below });
  }
}
