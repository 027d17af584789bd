/** Disorder made behind the back of the real program: each healer names it and puts it in order, and then finds nothing. */
import { copyFile, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

interface Report {
  readonly found: readonly { readonly target: string; readonly outcome: string; readonly action: string }[];
  readonly answer: string | null;
}

let world: World;
let ann: Identity;
let admin: string;

beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_HEALING_INTERVAL: '0' } });
  ann = await createIdentity();
  const token = await allowPush(world, ann);
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
  const work = await createWorkTree(nodeApp('open'), ann);
  const pushed = await work.push(sshUrl(world, 'shop'));
  expect(pushed.code, pushed.stderr).toBe(0);
  await work.dispose();
  admin = await world.login();
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

async function run(healer: string): Promise<Report> {
  const answer = await world.api('GET', `/healers/${healer}`, { token: admin });
  expect(answer.status, answer.text).toBe(200);
  return answer.json<Report>();
}

async function heals(healer: string, ...targets: string[]): Promise<void> {
  const { found } = await run(healer);
  expect(found.map(({ target, outcome }) => [target, outcome])).toEqual(targets.map((target) => [target, 'healed']));
  expect((await run(healer)).found).toEqual([]);
}

const exists = (...parts: string[]): Promise<boolean> =>
  stat(path.join(world.home, ...parts)).then(
    () => true,
    () => false,
  );

/** As anything that found the edge's socket could. */
async function sendToEdge(table: object): Promise<void> {
  const socket = net.connect(path.join(world.home, 'run', 'edge.sock'));
  try {
    const answered = new Promise((resolve, reject) => socket.once('data', resolve).once('error', reject));
    socket.write(`${JSON.stringify({ id: 1, op: 'apply', table })}\n`);
    await answered;
  } finally {
    socket.destroy();
  }
}

it('all is in order at first', async () => {
  const list = await world.api('GET', '/healers', { token: admin });
  const names = list.json<Record<string, string>[]>().flatMap((one) => Object.keys(one));
  expect(names).toHaveLength(8);
  for (const name of names) expect((await run(name)).found, name).toEqual([]);
});

it('routes that point nowhere are put right', async () => {
  const version = Date.now() + 1_000_000_000;
  const route = { app: 'shop', hosts: ['shop.localhost'], note: '' };
  await sendToEdge({ version, routes: [{ ...route, targets: [{ unit: 'gone', host: '127.0.0.1', port: 9 }] }] });
  const waiting = world.fetchApp('shop');
  await heals('routes', 'app:shop');
  expect((await waiting).text).toBe('open');
  expect((await world.fetchApp('shop')).text).toBe('open');
});

it('repositories and slugs that no app owns are removed', async () => {
  await mkdir(path.join(world.home, 'repos', 'stray.git'), { recursive: true });
  const slugs = path.join(world.home, 'slugs', 'shop');
  const [slug = ''] = await readdir(slugs);
  await mkdir(path.join(slugs, 'forgotten'));
  await copyFile(path.join(slugs, slug, 'slug.json'), path.join(slugs, 'forgotten', 'slug.json'));
  await heals('repositories', 'repository:stray');
  await heals('slugs', 'slug:shop/forgotten');
  expect(await exists('repos', 'stray.git')).toBe(false);
  expect(await exists('slugs', 'shop', 'forgotten')).toBe(false);
  expect(await exists('repos', 'shop.git')).toBe(true);
  expect((await world.fetchApp('shop')).text).toBe('open');
});

it('a unit that died while the platform was away runs again, and nothing is left to heal', async () => {
  const unit = (await world.api('GET', '/apps/shop', { token: admin })).json<{ Units: { ID: string }[] }>().Units[0];
  const record = JSON.parse(await readFile(path.join(world.home, 'units', unit?.ID ?? '', 'unit.json'), 'utf8')) as {
    rootPid: number;
  };
  await world.end('SIGKILL');
  process.kill(record.rootPid, 'SIGKILL');
  await world.startAgain();
  await expect.poll(async () => (await world.fetchApp('shop')).text).toBe('open');
  await expect.poll(async () => (await run('units')).found).toEqual([]);
  for (const healer of ['operations', 'strays', 'routes']) expect((await run(healer)).found, healer).toEqual([]);
});

it('the command line runs them, and what they did is remembered', async () => {
  const login = await world.cli(['login', world.apiUrl, '--email', world.adminEmail], {
    input: `${world.adminPassword}\n`,
  });
  expect(login.code, login.stderr).toBe(0);
  const list = await world.cli(['healer', 'list']);
  expect(list.stdout).toContain('/healers/routes');
  await mkdir(path.join(world.home, 'repos', 'stray.git'), { recursive: true });
  const ran = await world.cli(['healer', 'run', 'repositories']);
  expect([ran.code, ran.stdout.includes('repository:stray')], ran.stderr).toEqual([0, true]);
  const healings = await world.api('GET', '/docker/healing', { token: admin });
  expect(healings.json<{ Action: string; Successful: boolean }[]>()[0]).toMatchObject({
    Action: 'repositories-healing',
    Successful: true,
  });
});
