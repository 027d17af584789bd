/** An app whose units number what they print, and the check of what of it is in the log. */
import type { LogStore } from '../../src/domain/logs/log-store.ts';
import type { LogEntry } from '../../src/domain/logs/entry.ts';
import { until } from '../../test/support/until.ts';
import type { World } from '../../test/support/world.ts';
import type { Files } from '../sample-apps.ts';

export const NUMBERED = 'numbered';
const WAIT_MS = 60_000;
/** Long enough for every unit to get the request before the first begins. */
const LEAD_MS = 3_000;
const PAGE = 10_000;

/** `GET /?run=<name>&at=<ms since 1970>&rate=<lines a second>&seconds=<n>`; answers who it is. */
export const NUMBERED_APP: Files = {
  Procfile: 'web: node server.js\n',
  'package.json': '{ "name": "numbered", "version": "1.0.0", "private": true }\n',
  'server.js': `const { writeSync } = require('node:fs');
const id = process.pid + '-' + process.hrtime.bigint();
const fill = Array.from({ length: 16 }, (_, n) => 'GET /orders/' + n * 7919 + ' 200 ' + n * 3 + 'ms ' + 'agent '.repeat(n));
const write = (bytes) => { for (let done = 0; done < bytes.length;) done += writeSync(1, bytes, done); };
let known = '';
function print(run, at, rate, all) {
  let next = 0;
  const tick = () => {
    const due = Math.min(all, Math.floor(((Date.now() - at) * rate) / 1000));
    let text = '';
    for (; next < due; next++) text += run + ' ' + next + ' ' + fill[next % 16] + '\\n';
    if (text !== '') write(Buffer.from(text));
    if (next < all) setTimeout(tick, 20);
  };
  setTimeout(tick, Math.max(0, at - Date.now()));
}
require('node:http').createServer((request, response) => {
  response.setHeader('connection', 'close').end(id);
  const query = new URL(request.url, 'http://localhost').searchParams;
  const run = query.get('run') ?? '';
  if (run === '' || run === known) return;
  known = run;
  print(run, Number(query.get('at')), Number(query.get('rate')), Number(query.get('rate')) * Number(query.get('seconds')));
}).listen(process.env.PORT);
`,
};

export interface Printing {
  /** One word; the lines begin with it. */
  readonly run: string;
  readonly units: number;
  /** Lines a second of each. */
  readonly rate: number;
  readonly seconds: number;
}

/** Has all units begin at one moment; answers it, in milliseconds since 1970. */
export async function beginPrinting(world: World, { run, units, rate, seconds }: Printing): Promise<number> {
  const at = Date.now() + LEAD_MS;
  const reported = new Set<string>();
  const path = `/?run=${run}&at=${at}&rate=${rate}&seconds=${seconds}`;
  await until(async () => reported.add((await world.fetchApp(NUMBERED, path)).text).size === units, {
    timeoutMs: WAIT_MS,
    everyMs: 1,
    what: `${units} units to be known`,
  });
  return at;
}

/** Whether the last line of each unit is stored. */
export async function isAllStored(store: LogStore, { run, units, rate, seconds }: Printing): Promise<boolean> {
  const contains = `${run} ${rate * seconds - 1} `;
  return (await store.query({ app: NUMBERED, lines: units, contains })).length === units;
}

export interface Found {
  readonly lines: number;
  readonly missing: number;
  readonly doubled: number;
  /** Lines that the log itself says are missing. */
  readonly inGaps: number;
  readonly bytes: number;
}

/** Walks all that came after the seq. What a gap accounts for is not missing. */
export async function judge(
  store: LogStore,
  afterSeq: number,
  { run, units, rate, seconds }: Printing,
): Promise<Found> {
  const next = new Map<string, number>();
  const found = { lines: 0, missing: 0, doubled: 0, inGaps: 0, bytes: 0 };
  for (let after = afterSeq; ;) {
    const page = await store.query({ app: NUMBERED, lines: PAGE, oldestFirst: true, afterSeq: after });
    for (const entry of page) {
      const due = next.get(entry.unit) ?? 0;
      const gap = gapOf(entry);
      if (gap !== null) {
        found.inGaps += gap;
        next.set(entry.unit, due + gap);
        continue;
      }
      const [name, number = ''] = entry.message.split(' ', 2);
      if (name !== run) continue;
      found.lines += 1;
      found.bytes += entry.message.length + 1;
      if (Number(number) < due) found.doubled += 1;
      else {
        found.missing += Number(number) - due;
        next.set(entry.unit, Number(number) + 1);
      }
    }
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.seq;
  }
  const all = rate * seconds;
  for (const due of next.values()) found.missing += Math.max(0, all - due);
  found.missing += Math.max(0, units - next.size) * all;
  return found;
}

function gapOf({ source, message }: LogEntry): number | null {
  const lines = source === 'tancho' ? /^(\d+) lines? (?:is|are) missing here/.exec(message)?.[1] : undefined;
  return lines === undefined ? null : Number(lines);
}
