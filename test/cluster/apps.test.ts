/** What only a cluster has, seen from outside: pods that others take away, and command lines in containers. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { createLoad } from '../support/load.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';
import { CLUSTER_POOL, type WorldCluster } from '../support/world-engine.ts';

const CONNECTIONS = 4;
const KILLS = 3;

let world: World;
let cluster: WorldCluster;
let ann: Identity;
let token: string;

beforeAll(async () => {
  world = await startWorld({ hasCluster: true });
  if (world.cluster === null) throw new Error('the server has no cluster');
  cluster = world.cluster;
  ann = await createIdentity();
  token = await allowPush(world, ann);
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

async function push(name: string, files: Record<string, string>): Promise<void> {
  const made = await world.api('POST', '/apps', {
    token,
    body: JSON.stringify({ name, platform: 'nodejs', pool: CLUSTER_POOL }),
  });
  expect(made.status, made.text).toBe(200);
  const work = await createWorkTree({ ...nodeApp(name), ...files }, ann);
  const pushed = await work.push(sshUrl(world, name));
  expect(pushed.code, pushed.stderr).toBe(0);
  await work.dispose();
}

const pods = async (): Promise<Pod[]> =>
  (await cluster.client.list(KINDS.pods, { namespace: cluster.namespace })).items.filter(
    ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase === 'Running',
  );

it('a program behind a line hears that it is to end, and its last words are in the log', async () => {
  await push('line', {
    // The shell waits for what it has started, and nothing of the line is the API's: `$$` is its number.
    Procfile: 'web: echo "prepared by $$" && node server.js & wait\n',
    'server.js': `require('node:http').createServer((req, res) => res.end('line')).listen(process.env.PORT);
process.on('SIGTERM', () => { console.log('ended as asked'); process.exit(0); });
`,
  });
  expect((await world.api('GET', '/apps/line/restart', { token })).status).toBe(200);
  const log = async (): Promise<string> =>
    (await world.api('GET', '/apps/line/log?lines=50&source=web', { token })).text;
  await until(async () => (await log()).includes('ended as asked'), { what: 'the last words of the unit' });
  expect(await log()).toMatch(/prepared by \d+/);
  const ran = await world.cli(['app', 'run', '-a', 'line', '--', 'echo "run by $$ for $(TANCHO_APP) $TANCHO_APP"']);
  expect(ran.stdout, ran.stderr).toMatch(/run by \d+ for {2}line/);
});

it(`${KILLS} pods of two that somebody takes away fail no request but those in them`, async () => {
  await push('pair', {});
  const added = await world.cli(['unit', 'add', '1', '-a', 'pair']);
  expect(added.code, added.stderr).toBe(0);
  const own = async (): Promise<string[]> =>
    (await pods()).filter(({ metadata }) => metadata.name.startsWith('pair-web-')).map(({ metadata }) => metadata.name);
  await until(async () => (await own()).length === 2, { what: 'two pods' });
  const load = createLoad(world, 'pair', CONNECTIONS);
  await load.reached(50);
  const units = async () =>
    (await world.api('GET', '/apps/pair', { token })).json<{ Units: { ID: string; State: string }[] }>().Units;
  for (let kill = 0; kill < KILLS; kill++) {
    const [victim = '', other] = await own();
    await cluster.client.delete(KINDS.pods, { name: victim, namespace: cluster.namespace });
    let seen = '';
    await until(
      async () => {
        const [left, shown] = [await own(), await units()];
        seen = JSON.stringify({ victim, left, units: shown.map(({ ID, State }) => [ID, State]) });
        const started = shown.filter(({ State }) => State === 'started');
        return !left.includes(victim) && left.length === 2 && started.length === 2;
      },
      { what: 'two units that serve again', detail: () => `${seen}\n${world.output()}` },
    );
    expect(await own()).toContain(other);
  }
  const { requests, failures } = await load.stop();
  console.log(`${requests} requests while ${KILLS} pods were taken away, ${failures.length} failed`);
  expect(failures.length).toBeLessThanOrEqual(KILLS * CONNECTIONS);
});
