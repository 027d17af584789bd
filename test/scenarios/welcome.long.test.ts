/** The very first start: one command gives a sample app that answers, a password, and commands that work as they are printed. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorkTree, nodeApp } from '../support/git.ts';
import { until } from '../support/until.ts';
import { run, startWorld, type World } from '../support/world.ts';

let world: World;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-newcomer-'));
  world = await startWorld({ flags: ['--welcome'], env: { TANCHO_ADMIN_EMAIL: '', TANCHO_ADMIN_PASSWORD: '' } });
  await until(() => world.output().includes('Ctrl-C stops'), {
    what: 'the whole welcome',
    detail: world.output,
  });
});

afterAll(async () => {
  await world.dispose();
  await rm(folder, { recursive: true, force: true });
});

function printed(pattern: RegExp): string {
  return pattern.exec(world.output())?.[1] ?? '';
}

it('prints an address that answers', async () => {
  const url = new URL(printed(/^The sample app answers: (http:\S+)$/m));
  expect(url.host).toBe(`hello.localhost:${world.edge.split(':')[1]}`);
  const answer = await world.fetchApp('hello');
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Hello')]);
  expect(printed(/^Isolation: +(.*)$/m)).toMatch(/^(bubblewrap|user|plain): /);
});

it('prints the password of the first admin, once, and keeps it nowhere', async () => {
  const email = printed(/^Admin: +(\S+)$/m);
  const password = printed(/^Password: +(\S+) /m);
  expect(email).toBe('admin@tancho.local');
  expect(password.length).toBeGreaterThanOrEqual(20);
  expect(await world.login(email, password)).toMatch(/./);
  const kept = await run('grep', ['-rlF', '--', password, world.home], {
    cwd: world.home,
    env: { PATH: process.env['PATH'] ?? '' },
  });
  expect(kept.stdout).toBe('');
});

it('prints the commands for an own app, which work as they are', async () => {
  const [create = '', remote = '', push = ''] = world
    .output()
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => /^(npx|git) /.test(line));
  const [, , ...words] = create.split(' ');
  expect(words.slice(0, 2)).toEqual(['app', 'create']);
  const created = await world.cli(words, { cwd: folder });
  expect(created.code, created.stderr).toBe(0);

  const work = await createWorkTree(nodeApp('mine'));
  const askpass = path.join(folder, 'askpass');
  await writeFile(askpass, '#!/bin/sh\nprintf %s "$TYPED"\n');
  await chmod(askpass, 0o700);
  const typed = { GIT_ASKPASS: askpass, TYPED: printed(/^Password: +(\S+) /m) };
  for (const command of [remote, push]) {
    const [program = '', ...args] = command.split(' ');
    const ran = await run(program, args, { cwd: work.dir, env: { ...work.env, ...typed } });
    expect(ran.code, command + ran.stderr).toBe(0);
  }
  expect((await world.fetchApp('my-app')).text).toBe('mine');
  await work.dispose();
});

it('is not repeated by the next start', async () => {
  const before = world.output().length;
  await world.end('SIGINT');
  await world.startAgain();
  await until(() => world.output().slice(before).includes('Ctrl-C stops'), { what: 'the greeting' });
  const said = world.output().slice(before);
  expect(said).not.toMatch(/Password:|Deploying the sample/);
  expect(said).toContain('your password');
  await until(async () => (await world.fetchApp('hello')).status === 200, {
    what: 'the app to be back',
  });
});
