/** Addresses, units and rest of apps under steady load, and over kill -9: nobody who asks an app notices a change. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeveloper } from '../support/developer.ts';
import { createIdentity, createWorkTree, nodeApp, sshUrl, type WorkTree } from '../support/git.ts';
import { createLoad } from '../support/load.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { request } from '../support/world.ts';

const SWAPS = rounds(40, 200);

const { world, token, createApp, createTree, dispose } = await startDeveloper();

async function push(name: string, files: Record<string, string> = {}): Promise<WorkTree> {
  await createApp(name);
  const tree = await createTree({ ...nodeApp(name), ...files });
  const pushed = await tree.push(sshUrl(world, name));
  expect(pushed.code, pushed.stderr).toBe(0);
  return tree;
}

let blue: WorkTree;
beforeAll(async () => {
  blue = await push('blue');
  await push('green');
});
afterAll(dispose);

interface Shown {
  readonly State: string;
  readonly Units: readonly { readonly ID: string; readonly State: string }[];
  readonly swappedWith?: string;
}
const show = async (app: string): Promise<Shown> => (await world.api('GET', `/apps/${app}`, { token })).json();
const ids = async (app: string): Promise<string[]> => (await show(app)).Units.map((unit) => unit.ID);

async function ok(method: string, path: string, body?: string): Promise<void> {
  const answer = await world.api(method, path, { token, ...(body !== undefined && { body }) });
  expect([answer.status, answer.text.includes('"Error"')], `${method} ${path}: ${answer.text}`).toEqual([200, false]);
}

describe('a swap', () => {
  it(`${SWAPS} times under load never fails a request, and every one is in effect when it is acknowledged`, async () => {
    const loads = [createLoad(world, 'blue', 3), createLoad(world, 'green', 3)];
    for (const load of loads) await load.reached(20);
    for (let n = 1; n <= SWAPS; n++) {
      await ok('PUT', '/swap?app1=blue&app2=green');
      const expected = n % 2 === 1 ? ['green', 'blue'] : ['blue', 'green'];
      const answers = await Promise.all([world.fetchApp('blue'), world.fetchApp('green')]);
      expect(answers.map((answer) => answer.text)).toEqual(expected);
    }
    for (const load of loads) {
      const { failures, texts } = await load.stop();
      expect(failures).toEqual([]);
      expect([...texts].sort()).toEqual(['blue', 'green']);
    }
  });

  it('outlives kill -9, with the extra host names, and keeps its apps from being removed', async () => {
    const added = await world.cli(['cname', 'add', 'www.example.com', '-a', 'blue']);
    expect(added.code, added.stderr).toBe(0);
    const asExample = async (): Promise<string> =>
      (await request(`http://${world.edge}`, 'GET', '/', { headers: { host: 'www.example.com' } })).text;
    expect(await asExample()).toBe('blue');
    const swapped = await world.cli(['app', 'swap', 'blue', 'green']);
    expect(swapped.code, swapped.stderr).toBe(0);
    expect(await asExample()).toBe('green');
    await world.end('SIGKILL');
    expect([(await world.fetchApp('blue')).text, await asExample()]).toEqual(['green', 'green']);
    await world.startAgain();
    expect([(await world.fetchApp('blue')).text, await asExample()]).toEqual(['green', 'green']);
    expect((await show('green')).swappedWith).toBe('blue');
    expect((await world.api('DELETE', '/apps/green', { token })).status).toBe(409);
    await ok('PUT', '/swap?app1=green&app2=blue');
    expect([(await world.fetchApp('blue')).text, await asExample()]).toEqual(['blue', 'blue']);
    await ok('DELETE', '/apps/blue/cname', '{"cname":["www.example.com"]}');
    expect(await asExample()).not.toBe('blue');
  });
});

describe('units', () => {
  it('come and go under load without a failed request, and those that stay are not restarted', async () => {
    const load = createLoad(world, 'blue', 4);
    await load.reached(20);
    const [first] = await ids('blue');
    const added = await world.cli(['unit', 'add', '2', '-a', 'blue']);
    expect(added.code, added.stderr).toBe(0);
    expect(await ids('blue')).toHaveLength(3);
    expect(await ids('blue')).toContain(first);
    await ok('PUT', '/apps/blue/units', '1');
    await ok('DELETE', '/apps/blue/units?units=3&process=');
    expect(await ids('blue')).toEqual([first]);
    await ok('PUT', '/apps/blue/units', '1');
    await ok('GET', '/apps/blue/restart');
    expect(await ids('blue')).toHaveLength(2);
    await ok('DELETE', '/apps/blue/units', '1');
    expect((await load.stop()).failures).toEqual([]);
  });

  it('that are there are still there after kill -9 in the middle of a change', async () => {
    const load = createLoad(world, 'blue', 3);
    await load.reached(20);
    const [first] = await ids('blue');
    for (const [method, moment] of [
      ['PUT', 60],
      ['PUT', 250],
      ['DELETE', 20],
    ] as const) {
      const done = world.api(method, '/apps/blue/units', { token, body: '1' }).catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, moment));
      await world.end('SIGKILL');
      await done;
      await world.startAgain();
      expect(await ids('blue')).toContain(first);
      await until(async () => (await show('blue')).Units.every((unit) => unit.State === 'started'), {
        what: 'every unit to be started',
      });
    }
    const more = (await ids('blue')).length - 1;
    if (more > 0) await ok('DELETE', '/apps/blue/units', String(more));
    expect(await ids('blue')).toEqual([first]);
    expect((await load.stop()).failures).toEqual([]);
  });
});

describe('a rollback', () => {
  it('brings the older code back under load without a failed request', async () => {
    await blue.write(nodeApp('blue 2'));
    await blue.commit('second');
    const pushed = await blue.push(sshUrl(world, 'blue'));
    expect(pushed.code, pushed.stderr).toBe(0);
    const load = createLoad(world, 'blue', 4);
    await load.reached(20);
    const list = async () =>
      (await world.api('GET', '/deploys?app=blue', { token })).json<
        { Image: string; Origin: string; CanRollback: boolean }[]
      >();
    const [, first] = await list();
    expect(first?.CanRollback).toBe(true);
    const rolled = await world.cli(['deploy', 'rollback', '-a', 'blue', first?.Image ?? '']);
    expect(rolled.code, rolled.stderr).toBe(0);
    expect((await world.fetchApp('blue')).text).toBe('blue');
    const [rollback] = await list();
    expect(rollback).toMatchObject({ Origin: 'rollback', CanRollback: false });
    expect([first?.Image, rollback?.Image].map((name) => /^blue:v\d+$/.test(name ?? ''))).toEqual([true, true]);
    await ok('POST', '/apps/blue/deploy/rollback', 'image=previous');
    expect((await world.fetchApp('blue')).text).toBe('blue 2');
    await ok('POST', '/apps/blue/deploy/rollback?image=v1');
    const { failures, texts } = await load.stop();
    expect(failures).toEqual([]);
    expect([...texts].sort()).toEqual(['blue', 'blue 2']);
  });
});

describe('a team', () => {
  it('with access pushes; the one that owns an app takes it to its pool', async () => {
    const body = JSON.stringify({ email: 'bob@example.com', password: 'bobs password' });
    expect((await world.api('POST', '/users', { body })).status).toBe(200);
    const bob = await world.login('bob@example.com', 'bobs password');
    await world.api('POST', '/teams', { token: bob, body: JSON.stringify({ name: 'bobs' }) });
    const key = await createIdentity();
    await world.api('POST', '/users/keys', { token: bob, body: JSON.stringify({ key: key.publicKey, name: 'k' }) });
    const tree = await createWorkTree(nodeApp('by bob'), key);
    await ok('POST', '/apps', '{"name":"shared","platform":"nodejs"}');
    expect((await tree.push(sshUrl(world, 'shared'))).code).not.toBe(0);
    const granted = await world.cli(['app', 'grant', 'bobs', '-a', 'shared']);
    expect(granted.code, granted.stderr).toBe(0);
    const pushed = await tree.push(sshUrl(world, 'shared'));
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await world.fetchApp('shared')).text).toBe('by bob');
    await world.cli(['pool', 'create', 'bobs-pool']);
    await world.cli(['pool', 'team-add', 'bobs-pool', 'bobs']);
    expect((await world.api('PUT', '/apps/shared', { token: bob, body: 'teamOwner=bobs&pool=bobs-pool' })).status).toBe(
      200,
    );
    expect(await show('shared')).toMatchObject({ Pool: 'bobs-pool', teamowner: 'bobs' });
    await tree.dispose();
    await key.dispose();
  });
});

describe('rest', () => {
  it('ends every process after the answers under way, says so, and ends with a start', async () => {
    await push('slow', {
      'server.js': `require('node:http').createServer((req, res) => {
  res.write('slow');
  setTimeout(() => res.end(process.env.GREETING ?? ''), req.url === '/slow' ? 700 : 0);
}).listen(process.env.PORT);
`,
    });
    const underWay = world.fetchApp('slow', '/slow');
    await new Promise((resolve) => setTimeout(resolve, 150));
    const stopped = await world.cli(['app', 'stop', 'slow']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect((await underWay).text).toBe('slow');
    const refused = await world.fetchApp('slow');
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('is stopped') as string]);
    expect(await show('slow')).toMatchObject({ State: 'stopped', Units: [] });
    await ok('POST', '/apps/slow/env', '{"GREETING":" hello"}');
    await world.end('SIGKILL');
    await world.startAgain();
    expect(await show('slow')).toMatchObject({ State: 'stopped', Units: [] });
    await ok('POST', '/apps/slow/start');
    expect((await world.fetchApp('slow')).text).toBe('slow hello');
  });
});
