/** What the API takes to answer beside an app that prints as fast as it can, and which of control's threads has that work. */
import { setTimeout as delay } from 'node:timers/promises';
import type { World } from '../../test/support/world.ts';
import type { Bench } from '../bench.ts';
import { load, type LoadResult } from '../http-load.ts';
import { publishLoad } from '../load-beside.ts';
import { cpuMs, threadCpuMs } from '../process-use.ts';
import { Pusher } from '../pushing.ts';
import type { Files } from '../sample-apps.ts';

const PRINTER = 'printer';
const ROUNDS = 5;
const SECONDS = 2;
/** Between the rounds: what was printed is in the log, and the next begins with nothing to do. */
const SETTLE_MS = 60_000;
const LINE = 'GET /orders/17 200 3ms '.repeat(4);

/** `GET /<seconds>`: prints for so long as fast as it is taken; answers when it begins. */
const PRINTER_APP: Files = {
  'package.json': '{ "name": "printer", "version": "1.0.0", "private": true }\n',
  'server.js': `const { writeSync } = require('node:fs');
const block = Buffer.from(${JSON.stringify(`${LINE}\n`)}.repeat(200));
require('node:http').createServer((request, response) => {
  response.setHeader('connection', 'close').end('start ' + process.pid);
  const end = Date.now() + Number(request.url.slice(1)) * 1000;
  const more = () => {
    if (Date.now() >= end) return;
    writeSync(1, block);
    setImmediate(more);
  };
  more();
}).listen(process.env.PORT);
`,
};

export async function measureBeside(bench: Bench): Promise<void> {
  const world = await bench.world();
  const pusher = await Pusher.open(bench, world);
  await pusher.deploy(PRINTER, PRINTER_APP);
  const head = ['GET /apps HTTP/1.1', 'Host: localhost', `Authorization: bearer ${pusher.token}`];
  const port = Number(new URL(world.apiUrl).port);
  const asked = (seconds: number): Promise<LoadResult> => load({ port, head, connections: 1, seconds });
  await asked(SECONDS / 2);
  const [quiet, beside]: [LoadResult[], LoadResult[]] = [[], []];
  const shares: number[] = [];
  await bench.rounds(ROUNDS, async () => {
    quiet.push(await asked(SECONDS));
    await world.fetchApp(PRINTER, `/${SECONDS + 1}`);
    const before = await usedBy(world);
    beside.push(await asked(SECONDS));
    const after = await usedBy(world);
    shares.push(((after.loop - before.loop) / (SECONDS * 1_000)) * 100);
    await settled(world);
  });
  publishLoad(bench, 'GET /apps beside an app that prints all it can', beside, {
    what: 'nobody prints',
    results: quiet,
  });
  bench.publish({ what: 'share of a core of the event loop of control meanwhile', unit: '%', samples: shares });
}

async function usedBy({ pid }: World): Promise<{ loop: number; all: number }> {
  const [loop, all] = await Promise.all([threadCpuMs(pid, pid), cpuMs(pid)]);
  return { loop, all };
}

/** Control has nothing to do any more. */
async function settled(world: World): Promise<void> {
  const end = performance.now() + SETTLE_MS;
  for (let { all: before } = await usedBy(world); performance.now() < end;) {
    await delay(500);
    const { all } = await usedBy(world);
    if (all - before < 50) return;
    before = all;
  }
}
