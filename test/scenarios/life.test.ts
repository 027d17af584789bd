/** The days of an app after its first push: variables, restart, run, log, dying units, stop and start of the platform. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allowPush,
  createIdentity,
  createWorkTree,
  type Identity,
  nodeApp,
  pushedApp,
  sshUrl,
  type WorkTree,
} from '../support/git.ts';
import { createLoad } from '../support/load.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let ann: Identity;
let token: string;
let work: WorkTree;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  work = await pushedApp(world, { name: 'daily', files: nodeApp('hello'), identity: ann, token });
});

afterAll(async () => {
  await work.dispose();
  await world.dispose();
  await ann.dispose();
});

async function log(query: string): Promise<{ Message: string; Source: string; Unit: string; AppName: string }[]> {
  return (await world.api('GET', `/apps/daily/log?${query}`, { token })).json();
}

describe('an app', () => {
  it('gets its variables, and loses them, without a failed request', async () => {
    const load = createLoad(world, 'daily', 4);
    await load.reached(20);
    const set = await world.api('POST', '/apps/daily/env', {
      token,
      body: JSON.stringify({ GREETING: 'good morning' }),
    });
    expect(set.status, set.text).toBe(200);
    expect((await world.fetchApp('daily', '/env')).text).toBe('good morning');
    const unset = await world.api('DELETE', '/apps/daily/env', { token, body: '["GREETING"]' });
    expect(unset.status, unset.text).toBe(200);
    expect((await world.fetchApp('daily', '/env')).text).toBe('');
    expect((await load.stop()).failures).toEqual([]);
  });

  it('is restarted by fresh units', async () => {
    const ids = async (): Promise<string[]> =>
      (await world.api('GET', '/apps/daily', { token }))
        .json<{ Units: { ID: string }[] }>()
        .Units.map((unit) => unit.ID);
    const before = await ids();
    const answer = await world.api('GET', '/apps/daily/restart', { token });
    expect(answer.status, answer.text).toBe(200);
    expect(await ids()).not.toEqual(before);
    expect((await world.fetchApp('daily')).status).toBe(200);
  });

  it('runs a command and gives its output and exit code', async () => {
    const ran = await world.cli(['app', 'run', '-a', 'daily', '--', 'ls; exit 5']);
    expect(ran.stdout).toContain('server.js');
    expect(ran.code).toBe(5);
  });

  it('has a log of its output and of what the platform did, with filters', async () => {
    await world.fetchApp('daily', '/for-the-log');
    await until(
      async () => (await log('lines=50&source=web')).some((entry) => entry.Message.includes('/for-the-log')),
      {
        what: 'the line to be in the log',
      },
    );
    const own = await log('lines=50&source=tancho');
    expect(own.length).toBeGreaterThan(0);
    expect(own.every((entry) => entry.Source === 'tancho' && entry.AppName === 'daily')).toBe(true);
    expect(await log('lines=1')).toHaveLength(1);
    expect((await world.api('GET', '/apps/daily/log', { token })).status).toBe(400);
  });

  it('does not show private values in its log', async () => {
    const secret = 'canary-9f83b1c2';
    const body = JSON.stringify({ SECRET: secret });
    expect((await world.api('POST', '/apps/daily/env?private=1', { token, body })).status).toBe(200);
    await world.cli(['app', 'run', '-a', 'daily', '--', 'true']);
    await world.fetchApp('daily', `/${secret}`);
    await until(
      async () => (await log('lines=20&source=web')).some((entry) => entry.Message.includes('asked for /***')),
      {
        what: 'the redacted line',
      },
    );
    expect((await log('lines=0')).some((entry) => entry.Message.includes(secret))).toBe(false);
    expect(world.output()).not.toContain(secret);
  });

  it('that dies is started again and its last words are kept', async () => {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'mortal', platform: 'nodejs' }) });
    const mortal = await createWorkTree(
      {
        ...nodeApp(''),
        'server.js': `require('node:http').createServer((req, res) => {
  if (req.url === '/die') { console.log('these are my last words'); process.exit(9); }
  res.end(String(process.pid));
}).listen(process.env.PORT);
`,
      },
      ann,
    );
    const pushed = await mortal.push(sshUrl(world, 'mortal'));
    expect(pushed.code, pushed.stderr).toBe(0);
    await world.fetchApp('mortal', '/die');
    await until(async () => (await world.fetchApp('mortal')).status === 200, {
      what: 'the app to be back',
    });
    const lines = (await world.api('GET', '/apps/mortal/log?lines=50', { token })).json<{ Message: string }[]>();
    expect(lines.some((entry) => entry.Message.includes('these are my last words'))).toBe(true);
    expect(lines.some((entry) => entry.Message.includes('exited with code 9'))).toBe(true);
    await mortal.dispose();
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('survives %s of the platform and is adopted', async (signal) => {
    const pid = async (): Promise<string> => (await world.fetchApp('mortal')).text;
    const before = await pid();
    await world.end(signal);
    await world.startAgain();
    expect(await pid()).toBe(before);
  });

  it('is removed with everything', async () => {
    const answer = await world.api('DELETE', '/apps/mortal', { token });
    expect(answer.status, answer.text).toBe(200);
    expect((await world.api('GET', '/apps/mortal', { token })).status).toBe(404);
    expect((await world.fetchApp('mortal')).status).toBe(404);
    const again = await world.api('POST', '/apps', {
      token,
      body: JSON.stringify({ name: 'mortal', platform: 'nodejs' }),
    });
    expect(again.status).toBe(200);
    expect((await world.api('GET', '/apps/mortal/env', { token })).json()).toEqual([]);
  });
});

describe('another team', () => {
  it('sees nothing of the app and may do nothing with it', async () => {
    const body = JSON.stringify({ email: 'eve@example.com', password: 'eves password' });
    expect((await world.api('POST', '/users', { body })).status).toBe(200);
    const eve = await world.login('eve@example.com', 'eves password');
    expect((await world.api('GET', '/apps', { token: eve })).json()).toEqual([]);
    for (const [method, where] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/restart'],
      ['GET', '/env'],
      ['POST', '/run'],
      ['GET', '/log?lines=1'],
    ] as const) {
      const answer = await world.api(method, `/apps/daily${where}`, {
        token: eve,
        ...(method === 'POST' ? { body: 'ls' } : {}),
      });
      expect(`${method} ${where} ${answer.status}`).toBe(`${method} ${where} 403`);
    }
    const theirs = await createIdentity();
    await world.api('POST', '/users/keys', { token: eve, body: JSON.stringify({ key: theirs.publicKey, name: 'k' }) });
    const tree = await createWorkTree(nodeApp('evil'), theirs);
    const pushed = await tree.push(sshUrl(world, 'daily'));
    expect(pushed.code).not.toBe(0);
    expect((await world.fetchApp('daily')).text).toBe('hello');
    await tree.dispose();
    await theirs.dispose();
  });
});
