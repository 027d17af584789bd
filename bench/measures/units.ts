/** What the platform uses while a hundred units, and a thousand, do nothing, and how soon it notices that one of them is dead. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../test/support/until.ts';
import { edgePid, type World } from '../../test/support/world.ts';
import type { Bench, Measure } from '../bench.ts';
import { cpuMs, memoryOf } from '../process-use.ts';
import { Pusher } from '../pushing.ts';

const APPS = 10;
/** The first minute after a start has work of its own: rounds of healers, and looks at units that become calm. */
const SETTLE_MS = 75_000;
const CPU_MS = 30_000;
/** Apps whose units are started at one time. */
const AT_ONCE = 2;
/** More units than these with one request take longer than a client waits for on a slow machine. */
const STEP = 33;
/** Of those that the next control has adopted. */
const KILLED = 20;
const NOTICED_MS = 300;
/** Small, so that a thousand of them fit into the memory of a small machine. */
const SERVER = `use Socket;
socket(my $server, PF_INET, SOCK_STREAM, 0) or die;
setsockopt($server, SOL_SOCKET, SO_REUSEADDR, 1);
bind($server, sockaddr_in($ENV{PORT}, INADDR_ANY)) or die "$!";
listen($server, 16);
while (accept(my $client, $server)) {
  my $request = '';
  sysread($client, $request, 4096);
  syswrite($client, "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok") if $request ne '';
  close($client);
}
`;
const FILES = {
  Procfile: 'web: perl server.pl\n',
  'package.json': '{ "name": "small", "version": "1.0.0", "private": true }\n',
  'server.pl': SERVER,
};

export const units: Measure = {
  name: 'units-100',
  about: 'processor time of control and edge while 100 units do nothing, and how soon a death is noticed',
  longMs: 420_000,
  run: (bench) => measureUnits(bench, 100, 1),
};

export const manyUnits: Measure = {
  name: 'units-1000',
  about: 'the same with 1,000 units',
  longMs: 1_500_000,
  run: (bench) => measureUnits(bench, 1_000, 5),
};

/** `most`: per cent of one processor that control may use. */
async function measureUnits(bench: Bench, count: number, most: number): Promise<void> {
  const world = await bench.world();
  const pusher = await Pusher.open(bench, world);
  const { token } = pusher;
  const work = bench.keep(await pusher.workTree(FILES));
  for (let index = 0; index < APPS; index++) {
    const app = `small-${index}`;
    await pusher.createApp(app);
    const ran = await work.push(pusher.url(app, 'ssh'));
    if (ran.code !== 0) throw new Error(`git push failed: ${ran.stderr}`);
  }
  const scales: number[] = [];
  for (let index = 0; index < APPS; index += AT_ONCE) {
    const begun = performance.now();
    const add = async (n: number): Promise<void> => {
      for (let left = count / APPS - 1; left > 0; left -= STEP) {
        const path = `/apps/small-${index + n}/units?units=${Math.min(left, STEP)}`;
        const added = await world.api('PUT', path, { token });
        if (added.status !== 200) throw new Error(`adding units: ${added.status} ${added.text}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => add(n)));
    scales.push(performance.now() - begun);
    bench.note(`${((index + AT_ONCE) * count) / APPS} units run`);
  }
  const added = AT_ONCE * (count / APPS - 1);
  bench.publish({ what: `${added} units more, of ${AT_ONCE} apps, until ${count} run`, unit: 'ms', samples: scales });
  await delay(SETTLE_MS);
  await publishUse(bench, world, `${count} units`, most);
  // The units are no children of the next control, which has to look after them in another way.
  await world.end('SIGKILL');
  await world.startAgain();
  await delay(SETTLE_MS);
  await publishUse(bench, world, `${count} units, adopted`, most);
  await publishDeaths(bench, world, token);
}

/** Until the death is in the log of the app, and the edge knows of it. */
async function publishDeaths(bench: Bench, world: World, token: string): Promise<void> {
  const samples: number[] = [];
  for (const id of (await readdir(join(world.home, 'units'))).filter((name) => /^[0-9a-f]{12}$/.test(name))) {
    if (samples.length === KILLED) break;
    const { app, mainPid } = JSON.parse(await readFile(join(world.home, 'units', id, 'unit.json'), 'utf8')) as {
      app: string;
      mainPid: number;
    };
    const log = async (): Promise<{ Date: string; Message: string }[]> =>
      (await world.api('GET', `/apps/${app}/log?lines=1000&source=tancho&search=SIGKILL`, { token })).json() as [];
    const before = (await log()).length;
    const killed = Date.now();
    process.kill(mainPid, 'SIGKILL');
    await until(async () => (await log()).length > before, { everyMs: 200, what: `the death of a unit of ${app}` });
    samples.push(Date.parse((await log()).at(-1)?.Date ?? '') - killed);
  }
  bench.publish({ what: 'a death of an adopted unit is noticed', unit: 'ms', samples });
  bench.publish({
    what: 'a death of an adopted unit is noticed, the latest',
    unit: 'ms',
    samples: [Math.max(...samples)],
    most: NOTICED_MS,
  });
}

/** Per cent of one processor. */
async function publishUse(bench: Bench, world: World, when: string, most: number): Promise<void> {
  const edge = await edgePid(world);
  const begun = performance.now();
  const [control, other] = [await cpuMs(world.pid), await cpuMs(edge)];
  await delay(CPU_MS);
  const took = performance.now() - begun;
  const share = async (pid: number, before: number): Promise<number[]> => [
    (((await cpuMs(pid)) - before) / took) * 100,
  ];
  bench.publish({ what: `control, ${when}`, unit: '%', samples: await share(world.pid, control), most });
  bench.publish({ what: `edge, ${when}`, unit: '%', samples: await share(edge, other) });
  bench.publish({ what: `RSS of control, ${when}`, unit: 'MB', samples: [(await memoryOf(world.pid)).rssMb] });
}
