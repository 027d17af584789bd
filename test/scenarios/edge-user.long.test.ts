/** The edge of a server that is root is a user of its own, and all that the edge does works for it. */
import { lstat, mkdtemp, readFile, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, it, type TestContext } from 'vitest';
import { findProgram } from '../../src/lib/find-program.ts';
import { needlessOf } from '../../src/lib/fewer-rights.ts';
import { archive, deployArchive } from '../support/archives.ts';
import { nodeApp } from '../support/git.ts';
import { until } from '../support/until.ts';
import { edgePid, startWorld, type World } from '../support/world.ts';

let world: World | null = null;
let above: string | null = null;
afterEach(async () => {
  await world?.dispose();
  world = null;
  if (above !== null) await rm(above, { recursive: true, force: true });
  above = null;
});

/** `closed`: below a directory that nobody else enters, as that of root is. */
async function started(
  context: TestContext,
  { closed = false, env = {} }: { closed?: boolean; env?: Record<string, string> } = {},
): Promise<World> {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) context.skip('it takes root');
  if (closed) above = await mkdtemp(path.join(tmpdir(), 'tancho-closed-'));
  world = await startWorld({ env, ...(above !== null && { home: path.join(above, 'home') }) });
  const log = await readFile(path.join(world.home, 'log', 'server.log'), 'utf8').catch(() => '');
  const why = /"why":"([^"]*)"/.exec(log)?.[1];
  if (why !== undefined) context.skip(`the edge has no user of its own here: ${why}`);
  return world;
}

async function statusOf(pid: number): Promise<Record<string, string>> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Object.fromEntries(text.split('\n').map((line) => line.split(/:\s*/) as [string, string]));
}

/** Of the edge that runs: it answers a moment before it says which process it is. */
async function edgeStatus(one: World): Promise<Record<string, string>> {
  let status: Record<string, string> | null = null;
  const look = async (): Promise<boolean> => {
    status = await statusOf(await edgePid(one)).catch(() => null);
    return status !== null;
  };
  await until(look, { what: 'the process of the edge' });
  return status ?? {};
}

/** Its user, after it has been seen to be one with nothing that root has. */
async function ownUser(one: World): Promise<number> {
  const status = await edgeStatus(one);
  const users = [...new Set(status['Uid']?.split('\t'))];
  expect(users, 'real, effective, saved and of files').toHaveLength(1);
  expect(status['Gid']?.split('\t')).toEqual(Array(4).fill(users[0]));
  expect([status['CapEff'], status['CapPrm'], status['CapInh'], status['CapAmb']]).toEqual(
    Array(4).fill('0'.repeat(16)),
  );
  expect(status['Groups']?.trim() ?? '').toBe('');
  const user = Number(users[0]);
  expect(user).toBeGreaterThan(60_000);
  return user;
}

/** What the edge owns of the home, and what of it stays the server's. */
async function expectOwnFiles(one: World, user: number): Promise<void> {
  const ownerOf = async (...parts: string[]): Promise<[number, string]> => {
    const { uid, mode } = await stat(path.join(one.home, ...parts));
    return [uid, (mode & 0o777).toString(8)];
  };
  for (const place of [
    ['edge', 'state'],
    ['run', 'edge'],
  ])
    expect(await ownerOf(...place)).toEqual([user, '700']);
  expect(await ownerOf('edge', 'state', 'table.json')).toEqual([user, '600']);
  expect((await ownerOf('run', 'edge', 'edge.sock'))[0]).toBe(user);
  for (const place of [['edge'], ['edge', 'programs'], ['edge', 'edge.log'], ['run'], ['run', 'control.pid']]) {
    const [uid, mode] = await ownerOf(...place);
    expect([place, uid], mode).toEqual([place, 0]);
    expect(Number.parseInt(mode, 8) & 0o022, place.join('/')).toBe(0);
  }
  // The server itself keeps of root what it needs.
  expect(needlessOf(await readFile(`/proc/${one.pid}/status`, 'latin1'))).toEqual([]);
  for (const name of ['edge.sock', 'edge.pid']) {
    const link = path.join(one.home, 'run', name);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readlink(link)).toBe(`edge/${name}`);
  }
}

it.for([
  { where: 'where nobody else enters', closed: true },
  { where: 'where others enter', closed: false },
])(
  'serves $where, gets new routes, lets clients reach the API, owns what it writes and nothing else, and comes back when killed',
  async ({ closed }, context) => {
    const one = await started(context, { closed });
    const user = await ownUser(one);
    expect((await edgeStatus(one))['NoNewPrivs']).toBe('1');
    // System calls are filtered, of the server as well.
    if (findProgram('perl') === null) context.skip('there is no perl, which sets filters of system calls');
    expect((await edgeStatus(one))['Seccomp']).toBe('2');
    expect((await statusOf(one.pid))['Seccomp']).toBe('2');
    const token = await one.login();
    await one.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
    expect(await deployArchive(one, token, 'shop', await archive(nodeApp('first')))).toMatch(/\nOK\n$/);
    expect((await one.fetchApp('shop')).text).toBe('first');
    expect(await deployArchive(one, token, 'shop', await archive(nodeApp('second')))).toMatch(/\nOK\n$/);
    expect((await one.fetchApp('shop')).text).toBe('second');
    // The API by way of the edge.
    expect((await one.fetchApp('api', '/healthcheck')).text).toContain('WORKING');
    await expectOwnFiles(one, user);

    process.kill(await edgePid(one), 'SIGKILL');
    await until(async () => (await one.fetchApp('shop').catch(() => null))?.text === 'second', {
      what: 'the next edge',
    });
    expect(await ownUser(one)).toBe(user);
  },
);

it('is stood in for, with the units, while the server is away', async (context) => {
  const one = await started(context);
  const user = await ownUser(one);
  const token = await one.login();
  await one.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
  expect(await deployArchive(one, token, 'shop', await archive(nodeApp('shop')))).toMatch(/\nOK\n$/);
  await one.end('SIGKILL');
  const keeper = path.join(one.home, 'run', 'keeper.pid');
  await until(async () => Number(await readFile(keeper, 'utf8').catch(() => '')) > 0, { what: 'the keeper' });
  process.kill(Number(await readFile(keeper, 'utf8')), 'SIGKILL');
  process.kill(await edgePid(one), 'SIGKILL');
  await until(async () => (await one.fetchApp('shop').catch(() => null))?.text === 'shop', {
    what: 'the edge that the next keeper has started',
  });
  expect(await ownUser(one)).toBe(user);
  await one.startAgain();
  expect((await one.fetchApp('shop')).text).toBe('shop');
});

it.for(['auto', 'user'])(
  'sees who listens where units share the network of the machine, too, at the level %s',
  async (isolation, context) => {
    const one = await started(context, { env: { TANCHO_NETWORK: 'shared', TANCHO_ISOLATION: isolation } });
    expect(/^Isolation: +(.*)$/m.exec(one.output())?.[1]).not.toContain('networks: own');
    const user = await ownUser(one);
    const token = await one.login();
    await one.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
    expect(await deployArchive(one, token, 'shop', await archive(nodeApp('shared')))).toMatch(/\nOK\n$/);
    expect(await one.fetchApp('shop', '/')).toMatchObject({ status: 200, text: 'shared' });
    process.kill(await edgePid(one), 'SIGKILL');
    await until(async () => (await one.fetchApp('shop').catch(() => null))?.text === 'shared', {
      what: 'the next edge, by the table that is kept',
    });
    expect(await ownUser(one)).toBe(user);
  },
);
