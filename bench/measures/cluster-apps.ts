/** A thousand simulated nodes with ten thousand pods of two thousand apps: what control takes for them, and whether it misses anything. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import { until } from '../../test/support/until.ts';
import type { World } from '../../test/support/world.ts';
import { type Bench, type Measure, timed } from '../bench.ts';
import { type CutConnections, openWayTo } from '../cluster/cut-connections.ts';
import { disturb } from '../cluster/disturbances.ts';
import {
  deployedApp,
  ENGINE,
  makeDeployments,
  NAMESPACE,
  notePods,
  placed,
  PORT,
  putIntoStore,
  UNIT_SETTINGS,
} from '../cluster/deployed-apps.ts';
import { publishChanges } from '../cluster/reconciled.ts';
import { type SeenCluster, seeCluster } from '../cluster/seen-cluster.ts';
import {
  eachOf,
  type SimulatedCluster,
  startSimulatedCluster,
  withoutSimulatedCluster,
} from '../cluster/simulated-cluster.ts';
import { cpuMs, memoryOf } from '../process-use.ts';
import { createApps } from '../thousand-apps.ts';
import { publishList, samplesOf, START_MS } from './apps.ts';

const NODES = sizeOf('TANCHO_BENCH_NODES', 1_000);
const APPS = sizeOf('TANCHO_BENCH_APPS', 2_000);
const UNITS = 5;
const LISTS = 300;
const CHANGES = 100;
const STARTS = 3;
const MEMORY_MB = 400;
/** Pods come at some hundred a second. */
const PODS_MS = 600_000;
const LOGS_MS = 240_000;
/** The first minute after a start has work of its own. */
const SETTLE_MS = sizeOf('TANCHO_BENCH_SETTLE_MS', 75_000);
const CPU_MS = 30_000;

export const clusterApps: Measure = {
  name: 'cluster-apps',
  about: '2,000 apps with 10,000 pods on 1,000 simulated nodes: list, start, changes, cut watches, memory',
  longMs: 900_000,
  async run(bench) {
    const missing = withoutSimulatedCluster();
    if (missing !== '') return bench.note(`no cluster: ${missing}`);
    bench.keep(await answerForPods());
    const cluster = bench.keep(await startSimulatedCluster());
    await step(bench, `${NODES} nodes`, () => cluster.addNodes(NODES));
    await cluster.client.create(KINDS.namespaces, { metadata: { name: NAMESPACE } });
    const way = bench.keep(await openWayTo(cluster.port));
    const kubeconfig = await kubeconfigThrough(cluster, way);
    const world = await bench.world({
      env: {
        TANCHO_ENGINES: `${ENGINE}=kubernetes:${kubeconfig}?namespace=${NAMESPACE}&from=127.0.0.0/8`,
        ...UNIT_SETTINGS,
      },
    });
    const token = await world.login();
    await makePool(world, token);
    await delay(SETTLE_MS / 10);
    const empty = (await memoryOf(world.pid)).rssMb;
    const seen = bench.keep(seeCluster(cluster.client));
    await deploy({ bench, world, cluster, seen, token });
    await measureStarts(bench, world, token);
    await publishUse(bench, world, empty);
    await measureLists(bench, world, token);
    await publishChanges({ bench, world, cluster, seen, token });
    await disturb({ bench, world, cluster, seen, token, way, kubeconfig });
    const { rssMb } = await memoryOf(world.pid);
    bench.publish({ what: 'RSS of control after all of it', unit: 'MB', samples: [rssMb], most: MEMORY_MB });
  },
};

interface Deploying {
  readonly bench: Bench;
  readonly world: World;
  readonly cluster: SimulatedCluster;
  readonly seen: SeenCluster;
  readonly token: string;
}

async function deploy({ bench, world, cluster, seen, token }: Deploying): Promise<void> {
  await step(bench, `${APPS} apps`, () => createApps(world, token, APPS, ENGINE));
  await world.end('SIGTERM');
  const apps = Array.from({ length: APPS }, (_, index) => deployedApp(`listed-${index}`, UNITS));
  await step(bench, `${APPS} Deployments`, () => makeDeployments(cluster.client, apps));
  await step(bench, `${APPS * UNITS} pods`, () => seen.untilRunning(APPS * UNITS, PODS_MS));
  await step(bench, 'what was deployed, in books and store', async () => {
    const running = placed(apps, seen.running());
    await notePods(cluster.client, running);
    await putIntoStore(world.home, running);
  });
  await step(bench, 'the first start', () => world.startAgain());
  await seen.untilSettled(PODS_MS);
  await step(bench, 'the log of every app', () => untilLogged(world, token));
}

/** What each pod has printed is there: its log is followed. */
async function untilLogged(world: World, token: string): Promise<void> {
  const printed = async (app: string): Promise<boolean> => {
    const log = await world.api('GET', `/apps/${app}/log?lines=100`, { token });
    const messages = log.json<{ Message: string }[]>().map(({ Message }) => Message);
    return messages.filter((message) => message.startsWith('line 2 of ')).length >= UNITS;
  };
  await eachOf(
    Array.from({ length: APPS }, (_, index) => `listed-${index}`),
    (app) => until(() => printed(app), { what: `the output of ${app}`, everyMs: 250, timeoutMs: LOGS_MS }),
  );
}

async function measureStarts(bench: Bench, world: World, token: string): Promise<void> {
  const [ready, listed]: [number[], number[]] = [[], []];
  for (let index = 0; index < STARTS; index++) {
    await world.end('SIGKILL');
    const readyMs = await timed(() => world.startAgain());
    const listMs = await timed(async () => {
      const apps = (await world.api('GET', '/apps', { token })).json<{ Units: { State: string }[] }[]>();
      const started = apps.flatMap(({ Units }) => Units).filter(({ State }) => State === 'started').length;
      if (started !== APPS * UNITS) throw new Error(`${started} units are started after a start`);
    });
    ready.push(readyMs);
    listed.push(readyMs + listMs);
  }
  const what = `start after kill -9 with ${APPS * UNITS} pods`;
  bench.publish({ what: `${what}, until it is ready`, unit: 'ms', samples: ready, most: START_MS });
  bench.publish({ what: `${what}, until all are listed as started`, unit: 'ms', samples: listed });
}

async function publishUse(bench: Bench, world: World, emptyMb: number): Promise<void> {
  await delay(SETTLE_MS);
  const { rssMb } = await memoryOf(world.pid);
  bench.publish({ what: `RSS of control, ${APPS * UNITS} pods`, unit: 'MB', samples: [rssMb], most: MEMORY_MB });
  const perApp = ((rssMb - emptyMb) * 1024) / APPS;
  bench.publish({ what: `growth of control for each app of ${UNITS} units`, unit: 'KB', samples: [perApp] });
  const [begun, before] = [performance.now(), await cpuMs(world.pid)];
  await delay(CPU_MS);
  const share = (((await cpuMs(world.pid)) - before) / (performance.now() - begun)) * 100;
  bench.publish({ what: 'control while nothing changes', unit: '%', samples: [share] });
}

async function measureLists(bench: Bench, world: World, token: string): Promise<void> {
  const list = async (): Promise<void> => {
    const found = (await world.api('GET', '/apps', { token })).json<unknown[]>().length;
    if (found !== APPS) throw new Error(`${found} apps in place of ${APPS}`);
  };
  await list();
  publishList(bench, `GET /apps, ${APPS} apps of ${UNITS} units`, await samplesOf(LISTS, list));
  const afterChanges = await samplesOf(CHANGES, list, async (index) => {
    const body = JSON.stringify({ description: `change ${index}` });
    const changed = await world.api('PUT', `/apps/listed-${index % APPS}`, { token, body });
    if (changed.status !== 200) throw new Error(`changing an app: ${changed.status} ${changed.text}`);
  });
  publishList(bench, `GET /apps right after a change, ${APPS} apps of ${UNITS} units`, afterChanges);
}

/** What is run in pods, for all of them: addresses of pods are this machine's. */
async function answerForPods(): Promise<{ dispose(): Promise<void> }> {
  const server = createServer((_, response) => void response.end('a pod'));
  server.listen(PORT, '0.0.0.0');
  await once(server, 'listening');
  return {
    async dispose() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function kubeconfigThrough({ credentials, port }: SimulatedCluster, way: CutConnections): Promise<string> {
  const file = path.join(path.dirname(credentials.kubeconfig), 'kubeconfig-of-tancho');
  const text = await readFile(credentials.kubeconfig, 'utf8');
  await writeFile(file, text.replace(`127.0.0.1:${port}`, `127.0.0.1:${way.port}`), { mode: 0o600 });
  return file;
}

async function makePool(world: World, token: string): Promise<void> {
  const body = JSON.stringify({ name: ENGINE, engine: ENGINE, public: true });
  const made = await world.api('POST', '/pools', { token, body });
  if (made.status !== 200) throw new Error(`no pool in the cluster: ${made.status} ${made.text}`);
}

async function step(bench: Bench, what: string, work: () => Promise<void>): Promise<void> {
  bench.note(`${what}: ${((await timed(work)) / 1000).toFixed(1)} s`);
}

/** Smaller, to try it. */
function sizeOf(variable: string, usual: number): number {
  const size = Number(process.env[variable] ?? usual);
  if (!Number.isInteger(size) || size < 1) throw new Error(`${variable} is a number of at least 1.`);
  return size;
}
