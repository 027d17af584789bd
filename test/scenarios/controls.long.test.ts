/** Two whole servers on one PostgreSQL, with apps in a small cluster: what is done on one is seen on the other, and one may die. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlsWorld, startControlsWorld, WITHOUT_CONTROLS } from '../support/controls-world.ts';
import { allowPush, createIdentity, createWorkTree, sshUrl } from '../support/git.ts';
import { skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import { run, type World } from '../support/world.ts';

/** What runs is a word of the cluster. */
const CODE = { Procfile: 'web: serve\n', 'package.json': '{ "name": "code", "version": "1.0.0", "private": true }\n' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const controls: ControlsWorld | null = await startControlsWorld();

describe('two servers without units of their own machine', skipFor(controls === null && WITHOUT_CONTROLS), () => {
  let [one, two]: World[] = [];
  let token: string;

  const first = (): World => one ?? expect.fail('no server');
  const second = (): World => two ?? expect.fail('no server');

  beforeAll(async () => {
    one = await controls?.start();
    two = await controls?.start();
    token = await first().login();
  });
  afterAll(async () => {
    await controls?.dispose();
  });

  const deploy = async (world: World, app: string, name = 'team/shop:1'): Promise<string> => {
    const body = new URLSearchParams({ image: `${controls?.registry.host}/${name}`, origin: 'image' }).toString();
    return (await world.api('POST', `/1.0/apps/${app}/deploy`, { token, body, headers: FORM })).text;
  };
  const units = async (world: World, app: string): Promise<string[]> =>
    (await world.api('GET', `/apps/${app}`, { token }))
      .json<{ Units: { ID: string; Status: string }[] }>()
      .Units.map(({ ID, Status }) => `${ID} ${Status}`);

  it('an app made on one is deployed on the other, and answers at both', async () => {
    const body = JSON.stringify({ name: 'shop', platform: 'nodejs' });
    expect((await first().api('POST', '/apps', { token, body })).status).toBe(200);
    expect(await deploy(second(), 'shop')).toMatch(/OK\n$/);
    for (const world of [first(), second()]) {
      await until(async () => (await world.fetchApp('shop')).text === 'hello', { what: 'the app to answer' });
    }
    expect(await units(first(), 'shop')).toEqual(await units(second(), 'shop'));
  });

  it('pools name their engine, and none runs processes', async () => {
    const pools = (await first().api('GET', '/1.0/pools', { token })).json<{ Name: string; Engine: string }[]>();
    expect(pools.map(({ Name, Engine }) => [Name, Engine])).toEqual([['default', 'prod']]);
  });

  it('what one changes is followed by the other', async () => {
    const env = JSON.stringify({ GREETING: 'hello from both' });
    expect((await second().api('POST', '/apps/shop/env', { token, body: env })).status).toBe(200);
    await first().api('PUT', '/apps/shop/units?units=1', { token });
    await until(async () => (await units(second(), 'shop')).length === 2, { what: 'two units' });
    for (const world of [first(), second()]) {
      const asked = new Set<string>();
      await until(async () => asked.add((await world.fetchApp('shop', '/unit')).text).size === 2, {
        what: 'both units',
      });
    }
    await first().fetchApp('shop', '/say?seen-by-both');
    await until(
      async () => (await second().api('GET', '/apps/shop/log?lines=50', { token })).text.includes('seen-by-both'),
      { what: 'the line of the log at the other server' },
    );
  });

  it('a server that runs units on its own machine is refused beside them', async () => {
    const refused = controls?.start({ TANCHO_PROCESS_ENGINE: 'on' });
    await expect(refused).rejects.toThrow('Other servers work with this database, and this one has an engine');
  });

  it('a deploy by way of one waits for that by way of the other, and each of them ends those of the other', async () => {
    const { registry } = controls ?? expect.fail('no servers');
    const layers = [[{ path: 'slow', data: 'more than half of nothing' }]];
    const slow = registry.addImage('team/slow', '1', { layers, config: { Entrypoint: ['serve'] } });
    registry.faults.set(slow.layers[0]?.digest ?? '', 'halt');
    const before = deploy(first(), 'shop', 'team/slow:1');
    await registry.halted;
    const after = deploy(second(), 'shop');
    const listed = async (world: World) =>
      (await world.api('GET', '/deploys?app=shop', { token })).json<{ ID: string; WaitsFor: string }[]>();
    await until(async () => (await listed(second()))[0]?.WaitsFor === 'waiting for another deploy of shop', {
      what: 'the second one to wait',
    });
    const [waiting, building] = await listed(first());
    expect([waiting?.WaitsFor, building?.WaitsFor]).toEqual(['waiting on another server', '']);
    const cancelled = await second().api('POST', `/apps/shop/deploy/cancel?deploy=${building?.ID}`, { token });
    expect(cancelled.status, cancelled.text).toBe(200);
    expect(await before).toContain('Cancelled by');
    expect(await after).toMatch(/OK\n$/);
    registry.release();
  });

  it('guesses of a password are counted together, whichever of them is asked', async () => {
    const guess = async (world: World): Promise<number> =>
      (await world.api('POST', '/users/nobody@example.com/tokens', { body: '{"password":"a guess"}' })).status;
    const answers: number[] = [];
    while (answers.at(-1) !== 429) answers.push(await guess(answers.length % 2 === 0 ? first() : second()));
    expect(new Set(answers.slice(0, -1))).toEqual(new Set([404]));
    // Five are free. Counted apart, the eleventh would be the first that is refused; news may come late by a few.
    expect(answers.length).toBeLessThan(10);
  });

  it('a server that is killed is followed: its work is gone on with, and the app answers', async () => {
    await first().end('SIGKILL');
    expect(await deploy(second(), 'shop')).toMatch(/OK\n$/);
    expect((await second().fetchApp('shop')).text).toBe('hello');
    await first().startAgain();
    await until(async () => (await first().fetchApp('shop')).text === 'hello', {
      what: 'the first one to serve again',
    });
  });

  it('a server that is stopped is followed, too: what the units print that it has started is in the log', async () => {
    expect(await deploy(first(), 'shop')).toMatch(/OK\n$/);
    await first().end('SIGTERM');
    await second().fetchApp('shop', '/say?after-the-stop');
    await until(
      async () => (await second().api('GET', '/apps/shop/log?lines=50', { token })).text.includes('after-the-stop'),
      { what: 'the line of the log' },
    );
    await first().startAgain();
  });

  it('what was pushed to one that is killed then is cloned from the other, changed there, and is at the first again', async () => {
    const ann = await createIdentity();
    await allowPush(first(), ann);
    const body = JSON.stringify({ name: 'code', platform: 'nodejs' });
    expect((await second().api('POST', '/apps', { token, body })).status).toBe(200);
    const work = await createWorkTree({ ...CODE, version: 'one' }, ann);
    try {
      const pushed = await work.push(sshUrl(first(), 'code'));
      expect(pushed.code, pushed.stderr).toBe(0);
      expect((await second().fetchApp('code')).text).toBe('hello');
      await first().end('SIGKILL');
      const git = (...args: string[]) => run('git', args, { cwd: work.dir, env: work.env });
      const fetched = await git('fetch', '-q', sshUrl(second(), 'code'), 'main');
      expect(fetched.code, fetched.stderr).toBe(0);
      expect((await git('show', 'FETCH_HEAD:version')).stdout).toBe('one');
      await work.write({ version: 'two' });
      await work.commit();
      const again = await work.push(sshUrl(second(), 'code'));
      expect(again.code, again.stderr).toBe(0);
      await first().startAgain();
      await git('fetch', '-q', sshUrl(first(), 'code'), 'main');
      expect((await git('show', 'FETCH_HEAD:version')).stdout).toBe('two');

      // Both begin at the same commit.
      const other = await createWorkTree({}, ann);
      await run('git', ['pull', '-q', '--no-rebase', '--allow-unrelated-histories', '-X', 'theirs', work.dir, 'main'], {
        cwd: other.dir,
        env: other.env,
      });
      await Promise.all([work.write({ version: 'three' }), other.write({ version: 'four' })]);
      await Promise.all([work.commit(), other.commit()]);
      const both = await Promise.all([work.push(sshUrl(first(), 'code')), other.push(sshUrl(second(), 'code'))]);
      expect(both.map(({ code }) => code).sort(), both.map(({ stderr }) => stderr).join('\n')).toEqual([0, 1]);
      expect(both.find(({ code }) => code === 1)?.stderr).toMatch(
        /has moved meanwhile: somebody else pushed|A newer push by .* has taken its place/,
      );
      const won = both[0]?.code === 0 ? 'three' : 'four';
      for (const world of [first(), second()]) {
        await git('fetch', '-q', sshUrl(world, 'code'), 'main');
        expect((await git('show', 'FETCH_HEAD:version')).stdout).toBe(won);
      }
      await other.dispose();
    } finally {
      await work.dispose();
      await ann.dispose();
    }
  });

  it('show the same host key to who comes by ssh', async () => {
    const keys = await Promise.all(
      [first(), second()].map(async ({ ssh: { host, port } }) => {
        const scanned = await run('ssh-keyscan', ['-t', 'ed25519', '-p', String(port), host], {
          cwd: first().home,
          env: { PATH: process.env['PATH'] ?? '' },
        });
        return / ssh-ed25519 (\S+)/.exec(scanned.stdout)?.[1];
      }),
    );
    expect(keys[0]).toMatch(/^AAAA/);
    expect(keys[1]).toBe(keys[0]);
  });
});
