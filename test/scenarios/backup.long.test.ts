/** A backup, the loss of the home, one command, a start: the apps serve again, with all that they had, and go on. */
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  allowPush,
  createIdentity,
  createWorkTree,
  type Identity,
  nodeApp,
  sshUrl,
  type WorkTree,
} from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const WAIT_MS = 120_000;
const SERVER = `console.log('begun');
require('node:http').createServer((req, res) => res.end('hello ' + process.env.GREETING)).listen(process.env.PORT);
`;

let folder: string;
let directory: string;
let world: World;
let ann: Identity;
let token: string;
let work: WorkTree;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-backup-'));
  directory = path.join(folder, 'backups');
  world = await startWorld({ env: { TANCHO_BACKUP_DIRECTORY: directory, TANCHO_BACKUP_KEEP: '2' } });
  ann = await createIdentity();
  token = await allowPush(world, ann);
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
  work = await createWorkTree({ ...nodeApp(''), 'server.js': SERVER }, ann);
  expect((await world.cli(['env', 'set', '-a', 'shop', '--private', 'GREETING=you'])).code).toBe(0);
  const pushed = await work.push(sshUrl(world, 'shop'));
  expect(pushed.code, pushed.stderr).toBe(0);
});
afterAll(async () => {
  await world.dispose();
  await ann.dispose();
  await work.dispose();
  await rm(folder, { recursive: true, force: true });
});

const isServed = (): Promise<void> =>
  until(
    async () => {
      const { status, text } = await world.fetchApp('shop');
      return status === 200 && text === 'hello you';
    },
    { timeoutMs: WAIT_MS, what: 'the app to serve', detail: () => world.output().slice(-2_000) },
  );

/** What is the same before and after; times and processes are others. */
async function known(): Promise<unknown[]> {
  const asked = ['/apps/shop/env', '/apps/shop/releases', '/users/keys', '/teams', '/deploys?app=shop', '/plans'];
  return Promise.all(asked.map(async (what) => (await world.api('GET', what, { token })).text));
}

it('the first is made by itself, and one more by a command', async () => {
  const listed = async (): Promise<{ readonly backups: readonly object[] }> =>
    JSON.parse((await world.cli(['server', 'backup', '--list', '--json'])).stdout) as { backups: object[] };
  const [patience, detail] = [{ timeoutMs: WAIT_MS }, (): string => world.output().slice(-2_000)];
  await until(async () => (await listed()).backups.length > 0, { ...patience, what: 'the first backup', detail });
  // A command that comes in the last moment of the first answers with that.
  const makeOne = async (): Promise<boolean> => {
    const made = await world.cli(['server', 'backup']);
    expect(made.stdout + made.stderr).toMatch(/tancho-\d{8}T\d{9}Z: \d+ MiB/);
    expect(made.code).toBe(0);
    return (await listed()).backups.length === 2;
  };
  await until(makeOne, { ...patience, what: 'a second one', detail });
  // One more may be made by itself meanwhile, and the oldest goes after it.
  await expect.poll(listed).toMatchObject({ directory, keep: 2, problem: '', backups: [{}, {}] });
});

it('after the loss of the home the apps serve again, and the next push serves, too', async () => {
  await isServed();
  const before = await known();
  expect((await world.cli(['server', 'backup'])).code).toBe(0);
  const [newest = ''] = (await readdir(directory)).sort().reverse();
  const backup = path.join(directory, newest);
  const full = await world.cli(['server', 'restore', backup]);
  expect(full.stderr).toContain('tancho server stop');
  await world.end('SIGINT');
  await rename(world.home, path.join(folder, 'lost'));
  const restored = await world.cli(['server', 'restore', backup], { cwd: folder });
  expect(restored.code, restored.stderr).toBe(0);
  expect(restored.stdout).toContain('apps: shop');
  await world.startAgain();
  await isServed();
  expect(await known()).toEqual(before);
  const log = await world.api('GET', '/apps/shop/log?lines=0&source=web', { token });
  expect(log.text).toContain('begun');
  await work.write({ 'server.js': SERVER.replace('hello', 'hello, hello') });
  await work.commit();
  const pushed = await work.push(sshUrl(world, 'shop'));
  expect(pushed.code, pushed.stderr).toBe(0);
  expect((await world.fetchApp('shop')).text).toBe('hello, hello you');
});
