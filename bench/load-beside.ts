/** The same requests to an app through the edge and past it, in turns. */
import type { World } from '../test/support/world.ts';
import type { Bench } from './bench.ts';
import { load, type LoadResult } from './http-load.ts';
import { cpuMs } from './process-use.ts';
import { Pusher } from './pushing.ts';
import { PLAIN_APP } from './sample-apps.ts';

const APP = 'target';
export const HOST = `${APP}.localhost`;
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
  /** Of the admin. */
  readonly token: string;
}

/** Where requests are sent to, and the process that answers them. */
export interface Side {
  readonly port: number;
  readonly pid: number;
}

/** An app that anybody on this machine can reach, not only the edge, behind an edge of one worker. */
export async function loadedApp(bench: Bench, env: Record<string, string> = {}): Promise<LoadedApp> {
  const world = await bench.world({ env: { TANCHO_NETWORK: 'shared', TANCHO_EDGE_WORKERS: '1', ...env } });
  const pusher = await Pusher.open(bench, world);
  await pusher.deploy(APP, PLAIN_APP);
  return { world, port: Number((await world.fetchApp(APP, '/port')).text), token: pusher.token };
}

interface LoadOptions {
  /** The server name to ask for; absent: plain HTTP. */
  readonly tls?: string;
  /** Bytes of an answer; smaller ones are left out. */
  readonly fromBytes?: number;
}

export async function publishLoadBeside(
  bench: Bench,
  through: Side,
  beside: { readonly what: string; readonly port: number; readonly pid?: number },
  { tls, fromBytes = 0 }: LoadOptions = {},
): Promise<void> {
  for (const { bytes, name } of SIZES.filter((size) => size.bytes >= fromBytes)) {
    const head = [`GET /${bytes} HTTP/1.1`, `Host: ${HOST}`];
    const under = async (side: Partial<Side>, seconds: number): Promise<Sample> => {
      const before = side.pid === undefined ? 0 : await cpuMs(side.pid);
      const result = await load({ port: side.port ?? 0, head, connections: CONNECTIONS, seconds, tls });
      const used = side.pid === undefined ? 0 : (await cpuMs(side.pid)) - before;
      return { ...result, eachUs: (used * 1_000) / result.count };
    };
    const results: Sample[] = [];
    const floor: Sample[] = [];
    for (const side of [through, beside]) await under(side, SECONDS / 2);
    await bench.rounds(ROUNDS, async () => {
      results.push(await under(through, SECONDS));
      floor.push(await under(beside, SECONDS));
    });
    const what = `${name} through the edge`;
    publishLoad(bench, what, results, { what: beside.what, results: floor });
    if (beside.pid === undefined) continue;
    bench.publish({
      what: `${what}: processor time of each`,
      unit: 'us',
      samples: results.map(({ eachUs }) => eachUs),
      floor: { what: beside.what, samples: floor.map(({ eachUs }) => eachUs) },
    });
  }
}

interface Sample extends LoadResult {
  /** Microseconds of the process that was asked. */
  readonly eachUs: number;
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
