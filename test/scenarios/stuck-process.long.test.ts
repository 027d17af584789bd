/** A process that not even KILL ends, as one that hangs in the kernel, holds up nobody: its app can be changed, and it is ended when that is possible. */
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isAlive, readProcess } from '../../src/lib/processes.ts';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

/** Of cgroups v1: what stands still here takes no signal, also not KILL, until it goes on. */
const FREEZER = '/sys/fs/cgroup/freezer';
const group = path.join(FREEZER, `tancho-stuck-${process.pid}`);
const state = path.join(group, 'freezer.state');
const canFreeze = await access(FREEZER, constants.W_OK).then(
  () => true,
  () => false,
);

let world: World;
let ann: Identity;
let token: string;

beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_UNITS_STOP_GRACE: '1', TANCHO_HEALING_INTERVAL: '0' } });
  ann = await createIdentity();
  token = await allowPush(world, ann);
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
  const work = await createWorkTree(
    {
      ...nodeApp(''),
      'server.js':
        "require('node:http').createServer((_, res) => res.end(process.env.WORD ?? 'first')).listen(process.env.PORT);\n",
    },
    ann,
  );
  const pushed = await work.push(sshUrl(world, 'shop'));
  expect(pushed.code, pushed.stderr).toBe(0);
  await work.dispose();
});

afterAll(async () => {
  await writeFile(state, 'THAWED').catch(() => {});
  await world.dispose();
  await ann.dispose();
  await rmdir(group).catch(() => {});
});

/** The process that listens, as this process sees it. */
async function mainPid(): Promise<number> {
  const units = path.join(world.home, 'units');
  const [name = ''] = await readdir(units);
  const record = JSON.parse(await readFile(path.join(units, name, 'unit.json'), 'utf8')) as { mainPid: number };
  return record.mainPid;
}

it('holds no lease of its app, and is ended by the healer of strays when it can be', async ({ skip }) => {
  if (!canFreeze) return skip(`there is no ${FREEZER} that this user may write`);
  const pid = await mainPid();
  const start = readProcess(pid)?.start ?? '';
  await mkdir(group);
  await writeFile(path.join(group, 'cgroup.procs'), String(pid));
  await writeFile(state, 'FROZEN');
  await until(async () => (await readFile(state, 'utf8')).trim() === 'FROZEN', { what: 'the unit to stand still' });

  for (const word of ['second', 'third']) {
    const set = await world.api('POST', '/apps/shop/env', { token, body: JSON.stringify({ WORD: word }) });
    expect([set.status, set.text.includes('"Error"')], set.text).toEqual([200, false]);
    expect((await world.fetchApp('shop')).text).toBe(word);
  }
  expect(isAlive(pid, start)).toBe(true);
  const log = async (): Promise<string> => (await world.api('GET', '/apps/shop/log?lines=50', { token })).text;
  await until(async () => (await log()).includes('its processes survive KILL'), { what: 'the log to say so' });

  await writeFile(state, 'THAWED');
  const admin = await world.login();
  await until(
    async () => {
      await world.api('GET', '/healers/strays', { token: admin });
      return !isAlive(pid, start);
    },
    { what: 'the process to be ended' },
  );
  await until(async () => (await readdir(path.join(world.home, 'units'))).length === 1, {
    what: 'its directory to go',
  });
  expect((await world.fetchApp('shop')).text).toBe('third');
}, 240_000);
