/** Push code, get a URL: the main path over both git doors. What goes wrong: push-refused.long.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let ann: Identity;
let token: string;

beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_UNITS_START_TIMEOUT: '4s' } });
  ann = await createIdentity();
  token = await allowPush(world, ann);
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

async function createApp(name: string, platform = 'nodejs'): Promise<void> {
  const answer = await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform }) });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.json<{ repository_url: string }>().repository_url).toBe(sshUrl(world, name));
}

describe('a push', () => {
  it('over SSH serves when it returns, and a second one replaces the first', async () => {
    await createApp('first');
    const work = await createWorkTree(nodeApp('one'), ann);
    const pushed = await work.push(sshUrl(world, 'first'));
    expect(pushed.stderr).toContain('first.localhost');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await world.fetchApp('first')).text).toBe('one');
    await work.write(nodeApp('two'));
    await work.commit();
    expect((await work.push(sshUrl(world, 'first'))).code).toBe(0);
    expect((await world.fetchApp('first')).text).toBe('two');
    await work.dispose();
  });

  it('over HTTP takes the password or a token', async () => {
    await createApp('second');
    const work = await createWorkTree(nodeApp('over http'));
    const url = new URL(`${world.apiUrl}/git/second.git`);
    url.username = encodeURIComponent(world.adminEmail);
    url.password = token;
    const pushed = await work.push(url.href, 'main');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await world.fetchApp('second')).text).toBe('over http');
    url.password = 'wrong password';
    await work.commit();
    expect((await work.push(url.href)).code).not.toBe(0);
    await work.dispose();
  });

  it('is recorded as a deploy with its log', async () => {
    await createApp('recorded');
    const work = await createWorkTree(nodeApp('x'), ann);
    await work.push(sshUrl(world, 'recorded'));
    const [deploy] = (await world.api('GET', '/deploys?app=recorded', { token })).json<
      { ID: string; Commit: string; Error: string }[]
    >();
    expect(deploy?.Error).toBe('');
    expect(deploy?.Commit).toMatch(/^[0-9a-f]{40}$/);
    const detail = (await world.api('GET', `/deploys/${deploy?.ID}`, { token })).json<{
      Log: string;
      Duration: number;
    }>();
    expect(detail.Log).toContain('Building recorded');
    expect(detail.Duration).toBeGreaterThan(0);
    await work.dispose();
  });
});

it('a push that goes wrong is refused, says why, and the old version still serves', async () => {
  await createApp('exits');
  const work = await createWorkTree(nodeApp('good'), ann);
  const good = await work.push(sshUrl(world, 'exits'));
  expect(good.code, good.stderr).toBe(0);
  await work.write({ 'server.js': "console.log('my last words'); process.exit(3);\n" });
  await work.commit();
  const pushed = await work.push(sshUrl(world, 'exits'));
  expect(pushed.code).not.toBe(0);
  for (const told of ['my last words', 'Deploy failed (exited)', 'still serving'])
    expect(pushed.stderr).toContain(told);
  expect((await world.fetchApp('exits')).text).toBe('good');
  await work.dispose();
});
