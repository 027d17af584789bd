/** An installation moves from its files to PostgreSQL and back while its apps serve; and whatever is killed meanwhile, the state is whole in one of the two. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { type Developer, startDeveloper } from '../support/developer.ts';
import { nodeApp, sshUrl, type WorkTree } from '../support/git.ts';
import { createLoad, type Load } from '../support/load.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { ofRounds } from '../support/rounds.ts';
import { NO_POSTGRES, skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import { run, type World } from '../support/world.ts';

// Without PostgreSQL this has printed why.
const database = await createTestDatabase();
const url = database?.url ?? '';

/** Counts aloud, twenty times a second. */
function tickingApp(text: string): Record<string, string> {
  const { 'server.js': server = '', ...files } = nodeApp(text);
  const ticking = `let tick = 0;
const start = process.hrtime.bigint();
setInterval(() => console.log('tick ' + ++tick + ' of ' + start), 50);
`;
  return { ...files, 'server.js': server.replace("console.log('asked for ' + req.url);", '') + ticking };
}

describe('an installation', skipFor(database === null && NO_POSTGRES), () => {
  let world: World;
  let developer: Developer | undefined;
  let token: string;
  let work: WorkTree;

  beforeAll(async () => {
    developer = await startDeveloper();
    ({ world, token } = developer);
    const repository = await developer.createApp('shop');
    work = await developer.createTree(tickingApp('one'));
    const pushed = await work.push(repository);
    expect(pushed.code, pushed.stderr).toBe(0);
  });
  afterAll(async () => {
    await developer?.dispose();
    await database?.dispose();
  });

  const get = async <T>(where: string): Promise<T> => (await world.api('GET', where, { token })).json<T>();
  const place = async (): Promise<string | null> =>
    readFile(path.join(world.home, 'state.json'), 'utf8').then(
      (text) => (JSON.parse(text) as { url: string | null }).url,
      () => null,
    );

  /** All that people have made, and the units that serve. */
  async function seen(): Promise<object> {
    const app = await get<{ Units: { ID: string }[]; deploys: number; Pool: string }>('/apps/shop');
    return {
      units: app.Units.map(({ ID }) => ID),
      facts: [app.deploys, app.Pool],
      env: await get('/apps/shop/env'),
      deploys: (await get<{ ID: string }[]>('/deploys?app=shop')).map(({ ID }) => ID),
      keys: await get('/users/keys'),
      teams: await get('/teams'),
      webhooks: await get('/webhooks'),
      certificates: await get('/certificates'),
    };
  }

  /** Numbers that the unit which serves has printed, as the log has them. */
  async function ticks(): Promise<number[]> {
    const entries = await get<{ Message: string }[]>('/apps/shop/log?lines=10000&source=web');
    const all = entries.flatMap(({ Message }) => [/^tick (\d+) of (\d+)$/.exec(Message.trim()) ?? []]);
    const newest = all.reduce((last, [, , start = '0']) => (BigInt(start) > last ? BigInt(start) : last), 0n);
    return all.filter(([, , start]) => start === String(newest)).map(([, tick]) => Number(tick));
  }

  /** Every line once, in order, also those of the time that begins now. */
  async function expectWholeLog(): Promise<void> {
    const last = (await ticks()).at(-1) ?? 0;
    await until(async () => ((await ticks()).at(-1) ?? 0) > last + 5, { what: 'further lines' });
    const all = await ticks();
    expect(all).toEqual(all.map((_, index) => index + 1));
  }

  async function pushAgain(text: string): Promise<void> {
    await work.write(tickingApp(text));
    await work.commit(text);
    const pushed = await work.push(sshUrl(world, 'shop'));
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await world.fetchApp('shop')).text).toBe(text);
    const head = await run('git', ['rev-parse', 'HEAD'], { cwd: work.dir, env: work.env });
    const listed = await run('git', ['ls-remote', sshUrl(world, 'shop'), 'main'], { cwd: work.dir, env: work.env });
    expect(listed.stdout.split('\t')[0]).toBe(head.stdout.trim());
  }

  async function underLoad(step: (load: Load) => Promise<void>): Promise<void> {
    const load = createLoad(world, 'shop', 4);
    await load.reached(50);
    await step(load);
    const { failures, requests } = await load.stop();
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(100);
  }

  it('moves to PostgreSQL by one command: no request fails, no line is missing, all is there, and the process is the same', async () => {
    const set = await world.api('POST', '/apps/shop/env', { token, body: '{"GREETING":"hello"}' });
    expect(set.status, set.text).toBe(200);
    const hook = JSON.stringify({ name: 'moved', url: 'https://hooks.example.com/', events: ['deploy.done'] });
    await world.api('POST', '/webhooks', { token, body: hook });
    const [before, pid] = [await seen(), world.pid];
    await underLoad(async (load) => {
      const moved = await world.cli(['migrate'], { env: { TANCHO_MIGRATE_TO: url } });
      expect(moved.code, moved.stderr).toBe(0);
      expect(moved.stdout).toMatch(/The server serves with them; its API was away for [\d.]+ s\./);
      await load.reached(300);
    });
    expect([await place(), world.pid, await seen()]).toEqual([url, pid, before]);
    await expectWholeLog();
    await pushAgain('two');
    const again = await world.cli(['migrate', '--to', url]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is there already')]);
  });

  it('is there after a restart, whatever killed it', async () => {
    await world.end('SIGKILL');
    await world.startAgain();
    expect((await world.fetchApp('shop', '/env')).text).toBe('hello');
    await expectWholeLog();
  });

  it('moves back with what has changed, and the history of its code', async () => {
    const set = await world.api('POST', '/apps/shop/env', { token, body: '{"GREETING":"changed there"}' });
    expect(set.status, set.text).toBe(200);
    const before = await seen();
    await underLoad(async (load) => {
      const moved = await world.cli(['migrate', '--to', 'sqlite']);
      expect(moved.code, moved.stderr).toBe(0);
      await load.reached(300);
    });
    expect([await place(), await seen()]).toEqual([null, before]);
    await expectWholeLog();
    expect((await world.fetchApp('shop', '/env')).text).toBe('changed there');
    await pushAgain('three');
    await world.end('SIGTERM');
    await world.startAgain();
    expect((await world.fetchApp('shop')).text).toBe('three');
  });

  /** Runs the command until it has printed that, and kills what is given. */
  async function killedAt(text: string, to: string, kill: (command: number) => void): Promise<string> {
    const main = path.join(await builtProgram(), 'main.js');
    const env = { PATH: process.env['PATH'] ?? '', HOME: world.home, TANCHO_HOME: world.home };
    const command = spawn(process.execPath, [main, 'migrate', '--to', to], { env, stdio: 'pipe' });
    const ended = once(command, 'close');
    let printed = '';
    let isKilled = false;
    command.stderr.on('data', (data: Buffer) => (printed += data.toString()));
    command.stdout.on('data', (data: Buffer) => {
      printed += data.toString();
      if (isKilled || !printed.includes(text)) return;
      isKilled = true;
      kill(command.pid ?? 0);
    });
    await ended;
    expect(isKilled, printed).toBe(true);
    return printed;
  }

  /** Moves it there, if it is elsewhere. */
  async function bring(where: string | null): Promise<void> {
    if ((await place()) === where) return;
    const { code, stderr } = await world.cli(['migrate', '--to', where ?? 'sqlite']);
    expect(code, stderr).toBe(0);
  }

  const answers = (): Promise<void> =>
    until(async () => (await world.api('GET', '/healthcheck').catch(() => null))?.text.trim() === 'WORKING', {
      what: 'the API to be back',
    });

  const cutMoves = [
    ['PostgreSQL', 'the last one', 'log_blocks: '],
    ['files', 'the first table', 'users: '],
    ['PostgreSQL', 'the first table', 'users: '],
    ['files', 'the last one', 'log_blocks: '],
  ] as const;
  it.each(ofRounds(cutMoves, (_, at) => at < 2))(
    'a move to %s that is killed at %s leaves all of it in one of the two, and the server goes on there',
    async (to, _, text) => {
      const [from, target] = to === 'files' ? [url, 'sqlite'] : [null, url];
      await bring(from);
      const before = await seen();
      await underLoad(async (load) => {
        await killedAt(text, target, (command) => process.kill(command, 'SIGKILL'));
        await answers();
        await load.reached(200);
      });
      expect([null, url]).toContain(await place());
      expect(await seen()).toEqual(before);
      await expectWholeLog();
    },
  );

  it('a server that is killed while its state moves is not in the way of that, and is started where it has come to', async () => {
    await bring(url);
    const before = await seen();
    const printed = await killedAt('users: ', 'sqlite', () => process.kill(world.pid, 'SIGKILL'));
    expect(printed).toContain('Now start the server');
    await world.end('SIGKILL');
    await world.startAgain();
    expect([await place(), await seen()]).toEqual([null, before]);
    await expectWholeLog();
    await pushAgain('four');
  });
});
