/** Fifty thousand lines a second from twenty units: how many of them are in the log, and what that costs; the same with kills. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSqlLogStore } from '../../src/backends/log-store/sql/index.ts';
import type { LogStore } from '../../src/domain/logs/log-store.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { until } from '../../test/support/until.ts';
import type { World } from '../../test/support/world.ts';
import type { Bench } from '../bench.ts';
import { cpuMs } from '../process-use.ts';
import { Pusher } from '../pushing.ts';
import { packingMs } from './floor.ts';
import { beginPrinting, isAllStored, judge, NUMBERED, NUMBERED_APP, type Printing } from './numbered-lines.ts';

const UNITS = 20;
const LINES_A_SECOND = 50_000;
const SECONDS = 60;
const KILL_EVERY_MS = 5_000;
const STORED_MS = 300_000;
const FLOOR_LINES = 200_000;
const ROOM = { TANCHO_LOGS_BYTES_PER_APP: '4G', TANCHO_LOGS_BYTES: '8G' };

export async function measureWriting(bench: Bench): Promise<void> {
  const world = await bench.world({ env: ROOM });
  const token = await numberedApp(bench, world);
  const store = await createSqlLogStore({ kind: 'sqlite', file: join(world.home, 'logs.db') }, { logger: SILENT });
  bench.keep({ dispose: () => store.close() });
  const part = { units: UNITS, rate: LINES_A_SECOND / UNITS, seconds: SECONDS };
  await measure(bench, { world, store, token, printing: { ...part, run: 'steady' }, areKills: false });
  await measure(bench, { world, store, token, printing: { ...part, run: 'killed' }, areKills: true });
}

async function numberedApp(bench: Bench, world: World): Promise<string> {
  const pusher = await Pusher.open(bench, world);
  const { token } = pusher;
  await pusher.createApp(NUMBERED);
  const work = bench.keep(await pusher.workTree(NUMBERED_APP));
  const ran = await work.push(pusher.url(NUMBERED, 'ssh'));
  if (ran.code !== 0) throw new Error(`git push failed: ${ran.stderr}`);
  const added = await world.api('PUT', `/apps/${NUMBERED}/units?units=${UNITS - 1}`, { token });
  if (added.status !== 200) throw new Error(`adding units: ${added.status} ${added.text}`);
  return token;
}

interface Run {
  readonly world: World;
  readonly store: LogStore;
  readonly token: string;
  readonly printing: Printing;
  readonly areKills: boolean;
}

async function measure(bench: Bench, { world, store, printing, areKills }: Run): Promise<void> {
  const [newest] = await store.query({ app: NUMBERED, lines: 1 });
  const at = await beginPrinting(world, printing);
  const usedBefore = await cpuMs(world.pid);
  const end = at + printing.seconds * 1_000;
  let kills = 0;
  while (Date.now() < end) {
    await delay(Math.min(KILL_EVERY_MS, end - Date.now()));
    if (!areKills || Date.now() >= end) continue;
    await world.end('SIGKILL');
    await world.startAgain();
    kills += 1;
  }
  await until(() => isAllStored(store, printing), { timeoutMs: STORED_MS, everyMs: 200, what: 'the last lines' });
  const stored = Date.now();
  const used = (await cpuMs(world.pid)) - usedBefore;
  const found = await judge(store, newest?.seq ?? 0, printing);
  const what = areKills ? `${kills} kills of control` : `${LINES_A_SECOND} lines/s for ${SECONDS} s`;
  const one = (name: string, unit: 'lines' | 'lines/s' | 'ms', value: number, most?: number): void =>
    bench.publish({ what: `${what}: ${name}`, unit, samples: [value], ...(most !== undefined && { most }) });
  one('missing', 'lines', found.missing, 0);
  one('doubled', 'lines', found.doubled, 0);
  one('said to be missing', 'lines', found.inGaps, areKills ? undefined : 0);
  one('stored', 'lines/s', found.lines / ((stored - at) / 1_000));
  one('last line stored after the end', 'ms', stored - end);
  if (areKills) return;
  const lines = (await store.query({ app: NUMBERED, lines: FLOOR_LINES })).map(({ message }) => message);
  const floor = { what: 'read, packed, written', samples: [(await packingMs(lines)) / (lines.length / 1_000)] };
  const perThousand = used / (found.lines / 1_000);
  bench.publish({ what: `${what}: control per 1,000 lines`, unit: 'ms', samples: [perThousand], floor });
}
