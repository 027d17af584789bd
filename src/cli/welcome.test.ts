import { execFileSync } from 'node:child_process';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CliWorld, type Ran } from '../../test/support/cli-world.ts';
import { type GitHttp, startGitHttp } from '../../test/support/git-http.ts';
import { empty, json, problem, type Reply, startPlatform } from '../../test/support/scripted-platform.ts';
import type { RunningServer, ServerDoor, StopSignal } from './server/door.ts';

const admin = { email: 'admin@tancho.local', password: 'p:w-d' };
let world: CliWorld;
let git: GitHttp;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  world = new CliWorld();
  await mkdir(join(world.home, 'run'));
  const sample = join(world.folder, 'examples', 'hello-node');
  await mkdir(join(sample, 'node_modules'), { recursive: true });
  await writeFile(join(sample, 'server.js'), '// hello\n');
  await writeFile(join(sample, 'node_modules', 'x.js'), '');
  git = await startGitHttp(world.folder, 'hello', `${admin.email}:${admin.password}`);
  closers.push(git.close);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0)) await close();
  world.dispose();
});

/** The first start of a server whose API and apps answer like this; stopped once it has said all. */
async function welcome(
  api: Readonly<Record<string, Reply>>,
  app: Reply = empty,
  firstAdmin: RunningServer['firstAdmin'] = admin,
): Promise<Ran & { lines: string[]; bodies: string[]; hosts: (string | undefined)[] }> {
  const edge = await startPlatform({ 'GET /': app });
  const platform = await startPlatform(
    {
      'GET /platforms': json([{ Name: 'nodejs', Ready: true }]),
      'GET /teams': json([{ name: 'red' }]),
      'POST /apps': json({ status: 'success', repository_url: 'x' }),
      'GET /apps/hello': json({ Name: 'hello', Ip: 'hello.localhost:8000' }),
      ...api,
    },
    { socketPath: join(world.home, 'run', 'api.sock') },
  );
  closers.push(edge.close, platform.close);
  let send: (signal: StopSignal) => void = () => {};
  const server: ServerDoor = {
    startEdge: () => Promise.reject(new Error('this test runs no edge')),
    pushProgram: () => Promise.reject(new Error('this test pushes no image')),
    checkMove: () => Promise.reject(new Error('this test moves nothing')),
    bringAhead: () => Promise.reject(new Error('this test moves nothing')),
    moveState: () => Promise.reject(new Error('this test moves nothing')),
    start: async () => ({
      ready: { apiUrl: git.url, edgeAddress: edge.url.replace('http://', ''), sshAddress: '127.0.0.1:2222' },
      firstAdmin,
      passwordGiven: false,
      domain: 'localhost',
      isolation: 'plain: no isolation between apps',
      whyEnding: () => null,
      stop: async () => {},
    }),
    onSignal: (listener) => (send = listener),
    exit() {},
    again() {},
  };
  const onOut = (text: string): void => {
    if (text.includes('Ctrl-C stops')) setImmediate(() => send('SIGINT'));
  };
  const ran = await world.run(['server', '--welcome'], { server, onOut });
  return {
    ...ran,
    lines: platform.lines(),
    bodies: platform.asked.map(({ body }) => body),
    hosts: edge.asked.map(({ headers }) => headers.host),
  };
}

describe('the first start', () => {
  it('deploys the sample app with a real push and waits until it answers', async () => {
    let asked = 0;
    const late: Reply = (_, response) => {
      asked += 1;
      response.writeHead(asked < 3 ? 503 : 200).end();
    };
    // Not the machine's own, where others start platforms, too.
    const own = join(world.folder, 'tmp');
    await mkdir(own);
    vi.stubEnv('TMPDIR', own);
    const { code, out, err, lines, bodies, hosts } = await welcome({}, late);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines).toEqual(['GET /platforms', 'GET /teams', 'POST /apps', 'GET /apps/hello']);
    expect(JSON.parse(bodies[2] ?? '')).toEqual({ name: 'hello', platform: 'nodejs', teamOwner: 'red' });
    const files = execFileSync('git', ['ls-tree', '-r', '--name-only', 'main'], {
      cwd: git.repository,
      encoding: 'utf8',
    });
    expect(files).toBe('server.js\n');
    expect(hosts).toEqual(['hello.localhost:8000', 'hello.localhost:8000', 'hello.localhost:8000']);
    expect(out).toContain('The sample app answers: http://hello.localhost:8000\n');
    expect(await readdir(own)).toEqual([]);
  });

  it('prints three commands for an own app, with the remote as git takes it', async () => {
    const { out } = await welcome({});
    const host = git.url.replace('http://', '');
    expect(out).toContain('  npx tancho app create my-app\n');
    expect(out).toContain(`  git remote add tancho http://admin%40tancho.local@${host}/git/my-app.git\n`);
    expect(out).toContain('  git push tancho HEAD:main');
    expect(out.match(/p:w-d/g)).toHaveLength(1);
  });

  it('makes a team where there is none, and takes an app that is there already', async () => {
    const { code, err, lines, bodies } = await welcome({
      'GET /teams': json([]),
      'POST /teams': empty,
      'POST /apps': problem(409, 'app.name_taken', 'there is already an app with this name'),
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines).toContain('POST /teams');
    expect(JSON.parse(bodies[lines.indexOf('POST /apps')] ?? '')).toMatchObject({ teamOwner: 'main' });
  });

  it('goes on when the sample app cannot be deployed', async () => {
    const { code, out, err } = await welcome({
      'GET /platforms': json([{ Name: 'nodejs', Ready: false, Missing: ['npm is not installed.'] }]),
    });
    expect(code).toBe(0);
    expect(err).toBe(
      'Error: The platform nodejs is not ready: npm is not installed.\n  Hint: Install it and start again.\n',
    );
    expect(out).toContain('The sample app could not be deployed; the server itself runs.');
    expect(out).toContain('npx tancho app create my-app\n');
  });

  it('shows what git says when the push is refused', async () => {
    await cp(git.repository, `${git.repository}.copy`, { recursive: true });
    const hook = join(git.repository, 'hooks', 'pre-receive');
    await writeFile(hook, '#!/bin/sh\necho "build failed" >&2\nexit 1\n', { mode: 0o755 });
    const { out, err } = await welcome({});
    expect(out).toMatch(/ {2}remote: build failed/);
    expect(err).toBe('Error: git push failed.\n  Hint: The lines above say why.\n');
  });
});

it('a later start deploys nothing', async () => {
  const { code, out, lines } = await welcome({}, empty, null);
  expect({ code, lines }).toEqual({ code: 0, lines: [] });
  expect(out).toContain('npx tancho app create my-app\n');
  expect(out).toContain('# asks for your password');
});
