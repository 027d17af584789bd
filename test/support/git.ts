/** Real git work trees and pushes for scenarios. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Ran, run, type World } from './world.ts';

const execute = promisify(execFile);

/** A first build of Go compiles what comes with it. */
const PUSH_MS = 240_000;

export interface WorkTree {
  readonly dir: string;
  /** What its git commands run with. */
  readonly env: Record<string, string>;
  /** Null removes the file. */
  write(files: Readonly<Record<string, string | null>>): Promise<void>;
  commit(message?: string): Promise<string>;
  /** Pushes HEAD to `branch`; never throws for a refused push. */
  push(url: string, branch?: string): Promise<Ran>;
  dispose(): Promise<void>;
}

export interface Identity {
  /** `GIT_SSH_COMMAND` for this person's key. */
  readonly env: Record<string, string>;
  readonly publicKey: string;
  dispose(): Promise<void>;
}

/** A fresh ed25519 key, used for every push of one person. */
export async function createIdentity(): Promise<Identity> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'tancho-key-'));
  const file = path.join(dir, 'id');
  await execute('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'somebody', '-f', file]);
  const { stdout } = await execute('ssh-keygen', ['-y', '-f', file]);
  const options = ['-i', file, '-F', '/dev/null', '-o', 'IdentitiesOnly=yes', '-o', 'StrictHostKeyChecking=no'];
  const command = ['ssh', ...options, '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR'].join(' ');
  return {
    env: { GIT_SSH_COMMAND: command },
    publicKey: stdout.trim(),
    dispose: () => rm(dir, { recursive: true, force: true }),
  };
}

export async function createWorkTree(files: Readonly<Record<string, string>>, identity?: Identity): Promise<WorkTree> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'tancho-work-'));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_AUTHOR_NAME: 'Ann',
    GIT_AUTHOR_EMAIL: 'ann@example.com',
    GIT_COMMITTER_NAME: 'Ann',
    GIT_COMMITTER_EMAIL: 'ann@example.com',
    GIT_TERMINAL_PROMPT: '0',
    ...identity?.env,
  };
  const git = (args: readonly string[]): Promise<Ran> => run('git', args, { cwd: dir, env, timeoutMs: PUSH_MS });
  const work: WorkTree = {
    dir,
    env,
    async write(more) {
      for (const [name, text] of Object.entries(more)) {
        const file = path.join(dir, name);
        if (text === null) await rm(file, { force: true });
        else {
          await mkdir(path.dirname(file), { recursive: true });
          await writeFile(file, text);
        }
      }
    },
    async commit(message = 'work') {
      for (const args of [
        ['add', '-A'],
        ['commit', '-q', '--allow-empty', '-m', message],
      ]) {
        const done = await git(args);
        if (done.code !== 0) throw new Error(done.stderr);
      }
      return (await git(['rev-parse', 'HEAD'])).stdout.trim();
    },
    push: (url, branch = 'main') => git(['push', url, `HEAD:refs/heads/${branch}`]),
    dispose: () => rm(dir, { recursive: true, force: true }),
  };
  await git(['init', '-q', '-b', 'main']);
  await work.write(files);
  await work.commit('first');
  return work;
}

/** A Node app without dependencies that answers `text` and what it is given in `env`. */
export function nodeApp(text: string): Record<string, string> {
  return {
    Procfile: 'web: node server.js\n',
    'package.json': '{ "name": "sample", "version": "1.0.0", "private": true }\n',
    'server.js': `const http = require('node:http');
http.createServer((req, res) => {
  if (req.url === '/env') return res.end(process.env.GREETING ?? '');
  console.log('asked for ' + req.url);
  res.end(${JSON.stringify(text)});
}).listen(process.env.PORT, () => console.log('ready'));
`,
  };
}

/** A Node app that answers which process of which start it is. */
export function pidApp(): Record<string, string> {
  return {
    ...nodeApp(''),
    'server.js': `const identity = process.pid + ' ' + process.hrtime.bigint();
require('node:http').createServer((req, res) => res.end(identity)).listen(process.env.PORT);
`,
  };
}

/** Registers the identity's key for the admin and gives the URL to push an app to. */
export async function allowPush(world: World, identity: Identity): Promise<string> {
  const token = await world.login();
  const body = JSON.stringify({ key: identity.publicKey, name: 'test' });
  const answer = await world.api('POST', '/users/keys', { token, body });
  if (answer.status !== 200) throw new Error(`adding the key: ${answer.status} ${answer.text}`);
  return token;
}

export function sshUrl(world: World, app: string): string {
  return `ssh://git@${world.ssh.host}:${world.ssh.port}/${app}.git`;
}

/** A new app that serves these files; its work tree is the caller's to dispose of. */
export async function pushedApp(
  world: World,
  {
    name,
    files,
    identity,
    token,
  }: { name: string; files: Readonly<Record<string, string>>; identity: Identity; token: string },
): Promise<WorkTree> {
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
  const work = await createWorkTree(files, identity);
  const pushed = await work.push(sshUrl(world, name));
  if (pushed.code !== 0) throw new Error(`the first push of ${name} failed: ${pushed.stderr}`);
  return work;
}
