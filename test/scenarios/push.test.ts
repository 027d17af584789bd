/** Push code, get a URL: the main path over both git doors. What goes wrong: push-refused.long.test.ts. */
import { afterAll, describe, expect, it } from 'vitest';
import { startDeveloper } from '../support/developer.ts';
import { createWorkTree, nodeApp, sshUrl } from '../support/git.ts';

const { world, token, createApp, createTree, dispose } = await startDeveloper();
afterAll(dispose);

describe('a push', () => {
  it('over SSH serves when it returns, and a second one replaces the first', async () => {
    expect(await createApp('first')).toBe(sshUrl(world, 'first'));
    const work = await createTree(nodeApp('one'));
    const pushed = await work.push(sshUrl(world, 'first'));
    expect(pushed.stderr).toContain('first.localhost');
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await world.fetchApp('first')).text).toBe('one');
    await work.write(nodeApp('two'));
    await work.commit();
    expect((await work.push(sshUrl(world, 'first'))).code).toBe(0);
    expect((await world.fetchApp('first')).text).toBe('two');
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
    const work = await createTree(nodeApp('x'));
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
  });
});

it('a push that goes wrong is refused, says why, and the old version still serves', async () => {
  await createApp('exits');
  const work = await createTree(nodeApp('good'));
  const good = await work.push(sshUrl(world, 'exits'));
  expect(good.code, good.stderr).toBe(0);
  await work.write({ 'server.js': "console.log('my last words'); process.exit(3);\n" });
  await work.commit();
  const pushed = await work.push(sshUrl(world, 'exits'));
  expect(pushed.code).not.toBe(0);
  for (const reported of ['my last words', 'Deploy failed (exited)', 'still serving'])
    expect(pushed.stderr).toContain(reported);
  expect((await world.fetchApp('exits')).text).toBe('good');
});
