/** The way of a newcomer who has nothing but the command line and git, and that of the machine's owner, who needs no login. */
import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkTree, nodeApp, type WorkTree } from '../support/git.ts';
import { until } from '../support/until.ts';
import { type Ran, run, startWorld, type World } from '../support/world.ts';

const EMAIL = 'newcomer@example.com';
const PASSWORD = 'first day here';

let world: World;
/** The newcomer's machine: a home, and the code in it. */
let folder: string;
let env: Record<string, string>;
let work: WorkTree;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-newcomer-'));
  world = await startWorld();
  work = await createWorkTree(nodeApp('one'));
  const ssh = ['ssh', '-i', path.join(folder, '.ssh', 'id_ed25519'), '-F', '/dev/null', '-o', 'IdentitiesOnly=yes'];
  const quiet = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'];
  env = { ...work.env, HOME: folder, GIT_SSH_COMMAND: [...ssh, ...quiet].join(' ') };
});

afterAll(async () => {
  await world.dispose();
  await work.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** On the newcomer's machine, in the folder with the code. */
function tancho(args: readonly string[], more: { input?: string; cwd?: string } = {}): Promise<Ran> {
  return run(process.execPath, [world.program, ...args], { cwd: work.dir, env, ...more });
}

/** Standard output of a command that works. */
async function ok(args: readonly string[], more: { input?: string; cwd?: string } = {}): Promise<string> {
  const ran = await tancho(args, more);
  expect(ran.code, `tancho ${args.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(0);
  return ran.stdout;
}

/** Standard error of a command that does not. */
async function refused(args: readonly string[], code = 1): Promise<string> {
  const ran = await tancho(args);
  expect(ran.code, ran.stdout).toBe(code);
  expect(ran.stderr).toMatch(/^Error: .*\n( {2}Hint: .*\n)?$/);
  return ran.stderr;
}

function git(args: readonly string[], more: Record<string, string> = {}): Promise<Ran> {
  return run('git', args, { cwd: work.dir, env: { ...env, ...more } });
}

describe('a newcomer', () => {
  it('learns what to do first', async () => {
    expect(await refused(['app', 'list'])).toContain('tancho login');
    expect(await refused(['login', 'http://127.0.0.1:1', '--email', EMAIL], 2)).toContain('standard input');
  });

  it('logs in with the password on standard input', async () => {
    // The owner of the machine creates the account.
    const created = await world.cli(['user', 'create', EMAIL], { input: `${PASSWORD}\n` });
    expect(created.code, created.stderr).toBe(0);
    const wrong = await tancho(['login', world.apiUrl, '--email', EMAIL], { input: 'wrong password\n' });
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    await ok(['login', world.apiUrl, '--email', EMAIL], { input: `${PASSWORD}\n` });
    expect(await ok(['whoami'])).toContain(EMAIL);
    const saved = path.join(folder, '.config', 'tancho', 'targets.json');
    expect((await stat(saved)).mode & 0o777).toBe(0o600);
    expect(await readFile(saved, 'utf8')).not.toContain(PASSWORD);
  });

  it('adds a key, makes a team and an app, and gets the remote', async () => {
    expect(await refused(['key', 'add'])).toContain('ssh-keygen');
    await mkdir(path.join(folder, '.ssh'), { mode: 0o700 });
    const file = path.join(folder, '.ssh', 'id_ed25519');
    await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', EMAIL, '-f', file]);
    await ok(['key', 'add', '--name', 'laptop']);
    expect(await ok(['key', 'list'])).toMatch(/laptop +ssh-ed25519 +SHA256:/);
    expect(await refused(['app', 'create', 'shop', 'nodejs'])).toMatch(/team/);
    await ok(['team', 'create', 'sales']);
    expect(await ok(['platform', 'list'])).toContain('nodejs');
    expect(await ok(['app', 'create', 'shop', 'nodejs'])).toContain('git push tancho HEAD:main');
    expect((await git(['remote', 'get-url', 'tancho'])).stdout).toBe(
      `ssh://git@${world.ssh.host}:${world.ssh.port}/shop.git\n`,
    );
  });

  it('pushes over SSH and opens the address', async () => {
    const pushed = await git(['push', 'tancho', 'HEAD:main']);
    expect(pushed.code, pushed.stderr).toBe(0);
    const url = (await ok(['app', 'open-url'])).trim();
    expect(pushed.stderr).toContain(url);
    expect(url).toBe(`http://shop.localhost:${world.edge.split(':')[1]}`);
    expect((await world.fetchApp('shop')).text).toBe('one');
    expect(await ok(['app', 'info'])).toContain('started');
    expect(await ok(['app', 'list'])).toContain('shop');
  });

  it('pushes over HTTP with the password', async () => {
    const askpass = path.join(folder, 'askpass');
    await writeFile(askpass, '#!/bin/sh\nprintf %s "$TYPED"\n');
    await chmod(askpass, 0o700);
    await work.write(nodeApp('two'));
    await work.commit();
    const url = new URL(`${world.apiUrl}/git/shop.git`);
    url.username = encodeURIComponent(EMAIL);
    const pushed = await git(['push', url.href, 'HEAD:main'], { GIT_ASKPASS: askpass, TYPED: PASSWORD });
    expect(pushed.code, pushed.stderr).toBe(0);
    expect((await world.fetchApp('shop')).text).toBe('two');
  });

  it('looks at the deploys', async () => {
    const deploys = JSON.parse(await ok(['deploy', 'list', '--json'])) as { ID: string }[];
    expect(deploys).toHaveLength(2);
    const id = deploys[0]?.ID ?? '';
    expect(await ok(['deploy', 'list'])).toContain(id);
    expect(await ok(['deploy', 'info', id])).toContain('Building shop');
    expect(await refused(['deploy', 'info', 'f'.repeat(24)])).toContain('not found');
  });

  it('reads and follows the log', async () => {
    await world.fetchApp('shop', '/first');
    await until(async () => (await ok(['app', 'log', '--source', 'web'])).includes('asked for /first'), {
      what: 'the line in the log',
    });
    expect((await ok(['app', 'log', '-n', '1'])).trim().split('\n')).toHaveLength(1);
    expect(await ok(['app', 'log', '--source', 'tancho'])).not.toContain('asked for');
    expect(await ok(['app', 'log', '--unit', 'shop/99'])).toBe('');
    const following = spawn(process.execPath, [world.program, 'app', 'log', '-f', '-n', '1', '--source', 'web'], {
      cwd: work.dir,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let seen = '';
    following.stdout.on('data', (data: Buffer) => (seen += data.toString()));
    try {
      await until(() => seen !== '', { what: 'the last line there is' });
      await world.fetchApp('shop', '/second');
      await until(() => seen.includes('asked for /second'), {
        what: 'the new line',
        detail: () => seen,
      });
    } finally {
      const ended = new Promise((resolve) => following.once('exit', resolve));
      following.kill('SIGINT');
      await ended;
    }
  });

  it('sets, shows and unsets variables, private ones too', async () => {
    await ok(['env', 'set', 'GREETING=good day', 'COLOUR=red']);
    expect((await world.fetchApp('shop', '/env')).text).toBe('good day');
    await ok(['env', 'set', '--private', 'SECRET=-'], { input: 'canary-5150\n' });
    const shown = await ok(['env', 'get']);
    expect(shown).toContain('GREETING=good day');
    expect(shown).toMatch(/^SECRET=\*\*\* +\(private\)$/m);
    expect(await ok(['env', 'get', 'SECRET', '--reveal'])).toContain('canary-5150');
    expect(await ok(['app', 'run', '--', 'echo $SECRET'])).toBe('canary-5150\n');
    await ok(['env', 'unset', 'GREETING', 'COLOUR']);
    expect((await world.fetchApp('shop', '/env')).text).toBe('');
    expect(await tancho(['env', 'get', 'COLOUR'])).toMatchObject({ code: 1, stderr: 'Not set: COLOUR\n' });
    expect(await refused(['env', 'set', 'PORT=1'])).toContain('PORT');
    expect(await refused(['env', 'set', 'NOTHING'], 2)).toContain('KEY=VALUE');
  });

  it('restarts the app and runs commands, whose exit code is that of the command', async () => {
    await ok(['app', 'restart']);
    expect(await ok(['app', 'run', '--', 'cat', 'package.json'])).toContain('"sample"');
    const failed = await tancho(['app', 'run', '--', 'echo out; echo err >&2; exit 42']);
    expect([failed.code, failed.stdout]).toEqual([42, 'out\nerr\n']);
    expect((await tancho(['app', 'run', '--', 'no-such-program'])).code).toBe(127);
  });

  it('shares the app with a team', async () => {
    const other = await world.cli(['user', 'create', 'mate@example.com'], { input: 'a mates password\n' });
    expect(other.code, other.stderr).toBe(0);
    await ok(['team', 'member-add', 'sales', 'mate@example.com']);
    expect(await ok(['team', 'info', 'sales'])).toContain('mate@example.com');
    const mate = await world.login('mate@example.com', 'a mates password');
    expect((await world.api('GET', '/apps/shop', { token: mate })).status).toBe(200);
    await ok(['team', 'member-remove', 'sales', 'mate@example.com']);
    expect((await world.api('GET', '/apps/shop', { token: mate })).status).toBe(403);
    expect(await refused(['team', 'remove', 'sales'])).toContain('shop');
    expect(await ok(['team', 'list'])).toContain('sales');
  });

  it('removes everything again and logs out', async () => {
    expect(await refused(['app', 'remove'], 2)).toContain('--yes');
    await ok(['app', 'remove', '--yes']);
    expect((await world.fetchApp('shop')).status).toBe(404);
    await ok(['team', 'remove', 'sales']);
    await ok(['key', 'remove', 'laptop']);
    expect((await git(['push', 'tancho', 'HEAD:main'])).code).not.toBe(0);
    await ok(['logout']);
    expect(await refused(['app', 'list'])).toContain('tancho login');
  });
});

describe('the unix socket of the machine', () => {
  it('makes its owner the admin, without a password', async () => {
    const who = await world.cli(['whoami']);
    expect([who.code, who.stdout]).toEqual([0, expect.stringContaining(world.adminEmail)]);
    const status = await world.cli(['server', 'status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ running: true, control: world.pid });
  });

  it('cannot be opened by another user', async (test) => {
    const socket = path.join(world.home, 'run', 'api.sock');
    expect((await stat(socket)).mode & 0o077).toBe(0);
    if (process.getuid?.() !== 0) return test.skip('only root can try it as another user');
    const script = `require('node:net').connect(${JSON.stringify(socket)}).on('connect', () => console.log('open')).on('error', (error) => console.log(error.code))`;
    const as = ['--reuid=65534', '--regid=65534', '--clear-groups', '--', process.execPath, '-e', script];
    const ran = await run('/usr/bin/setpriv', as, { cwd: '/', env: {} });
    expect(ran.stdout, ran.stderr).toBe('EACCES\n');
  });
});
