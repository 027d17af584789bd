/** Both git doors over real repositories, with real git and ssh as clients; users, apps and deploys are small and in memory. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BareRepos, createBareRepos } from '../../src/backends/git-host/bare-repos/bare-repos.ts';
import type { App } from '../../src/domain/apps/app.ts';
import type { AppView, Say } from '../../src/domain/apps/apps.ts';
import type { Caller, UserCaller } from '../../src/domain/caller.ts';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import type { Deploys, NewCode } from '../../src/domain/deploys/deploys.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { demand } from '../../src/domain/access.ts';
import { PRE_RECEIVE } from '../../src/git-push/hook.ts';
import { createGitHttp } from '../../src/git-push/http.ts';
import { createGitSessions } from '../../src/git-push/sessions.ts';
import { createSshDoor } from '../../src/git-push/ssh.ts';

export interface DeployCall {
  readonly caller: Caller;
  readonly app: string;
  readonly code: NewCode;
  readonly say: Say;
  readonly signal: AbortSignal;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface GitWorld {
  readonly root: string;
  readonly host: BareRepos;
  readonly logs: { readonly level: string; readonly fields: object; readonly message: string }[];
  /** What a deploy does; replaced by a test. */
  onDeploy: (call: DeployCall) => Promise<void>;
  readonly ssh: { readonly port: number; readonly hostKeyFile: string };
  readonly http: { readonly port: number };
  sshUrl(app: string): string;
  httpUrl(app: string, user?: string, secret?: string): string;
  /** Makes a key pair; `email` undefined leaves it unknown to the platform. */
  key(type: 'ed25519' | 'rsa' | 'ecdsa', email?: string): string;
  /** A repository with one commit on main. */
  work(files?: Readonly<Record<string, string>>): Promise<string>;
  commit(directory: string, files: Readonly<Record<string, string | Buffer>>): Promise<string>;
  start(program: string, args: readonly string[], options?: { cwd?: string; key?: string }): Running;
  git(cwd: string, args: readonly string[], key?: string): Promise<Finished>;
  dispose(): Promise<void>;
}

export interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Finished>;
  /** Resolves when standard error holds the text. */
  shows(text: string): Promise<void>;
  stderr(): string;
  /** What Ctrl-C in a terminal does: every process of the command gets SIGINT. */
  interrupt(): void;
}

export const ANN = 'ann@example.com';
export const BOB = 'bob@example.com';
export const ANN_TOKEN = 'token-of-ann';

const TEAMS: Readonly<Record<string, string>> = { [ANN]: 'shop-team', [BOB]: 'other-team' };

function user(email: string, via: UserCaller['via']): UserCaller {
  const teams = [TEAMS[email] ?? 'none'];
  return { kind: 'user', email, isAdmin: false, teams, via, tokenHash: '', address: '127.0.0.1' };
}

function app(name: string): App {
  return {
    name,
    platform: 'static',
    owner: ANN,
    teamOwner: 'shop-team',
    teams: ['shop-team'],
    pool: 'default',
    description: '',
    cname: [],
    createdAt: new Date(0).toISOString(),
    release: null,
    rollout: null,
    desired: 'running',
    deploys: 0,
    removing: false,
  };
}

function missing(program: string): boolean {
  try {
    execFileSync(program, [program === 'ssh' ? '-V' : '--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
}

/** The programs these tests need and this machine lacks; a suite prints them and is skipped. */
export function missingPrograms(): string[] {
  return ['git', 'ssh'].filter(missing);
}

export async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 10_000): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export async function createGitWorld(
  options: { maxPushBytes?: number; authTimeoutMs?: number } = {},
): Promise<GitWorld> {
  const root = await mkdtemp(join(tmpdir(), 'git-world-'));
  await writeFile(join(root, '.gitconfig'), '[core]\n\tcompression = 0\n');
  const logs: GitWorld['logs'] = [];
  const logger = recordingLogger(logs);
  const host = await createBareRepos({
    root: join(root, 'repositories'),
    preReceive: PRE_RECEIVE,
    logger,
    ...(options.maxPushBytes === undefined ? {} : { maxPushBytes: options.maxPushBytes }),
  });
  await host.create('shop');

  const owners = new Map<string, string>();
  const users = {
    bySshKey: async (fingerprint: string) => {
      const email = owners.get(fingerprint);
      return email === undefined ? null : user(email, 'ssh-key');
    },
    byToken: async (token: string) => (token === ANN_TOKEN ? user(ANN, 'session') : null),
    byPassword: async (email: string, secret: string) =>
      email in TEAMS && (secret === `password-of-${email}` || (email === ANN && secret === ANN_TOKEN))
        ? user(email, 'password')
        : null,
  };
  const apps = {
    async info(caller: Caller, name: string): Promise<AppView> {
      if (name !== 'shop') throw new PlatformError('app.not_found', 'App not found.');
      demand(caller, 'app.info', { app: app(name) });
      return { app: app(name), units: [], state: 'started', repositoryUrl: '', address: '' };
    },
  };
  const deploys: Deploys = {
    list: async () => [],
    info: async () => {
      throw new PlatformError('deploy.not_found', 'Deploy not found.');
    },
    async deploy(caller, name, code, say, signal) {
      await world.onDeploy({ caller, app: name, code, say, signal });
      return deployed(name, code);
    },
  };
  const sessions = createGitSessions({ repositories: host, apps, deploys, logger });
  const hostKeyFile = join(root, 'keys', 'host');
  const listen = { host: '127.0.0.1', port: 0 };
  const timeout = options.authTimeoutMs === undefined ? {} : { authTimeoutMs: options.authTimeoutMs };
  const ssh = await createSshDoor({ listen, hostKeyFile, users, sessions, logger, ...timeout });
  const gitHttp = createGitHttp({ users, sessions, logger });
  const server = createServer((request, response) => {
    if (!gitHttp(request, response)) response.writeHead(418).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const httpPort = (server.address() as AddressInfo).port;

  let keys = 0;
  const world: GitWorld = {
    root,
    host,
    logs,
    onDeploy: async () => {},
    ssh: { port: ssh.address.port, hostKeyFile },
    http: { port: httpPort },
    sshUrl: (name) => `ssh://git@127.0.0.1:${ssh.address.port}/${name}.git`,
    httpUrl: (name, email = ANN, secret = ANN_TOKEN) =>
      `http://${encodeURIComponent(email)}:${encodeURIComponent(secret)}@127.0.0.1:${httpPort}/git/${name}.git`,
    key(type, email) {
      const file = join(root, `key-${(keys += 1)}`);
      execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', file, ...(type === 'rsa' ? ['-b', '2048'] : [])]);
      if (email !== undefined) {
        const line = execFileSync('ssh-keygen', ['-y', '-f', file]).toString();
        const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64');
        const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
        owners.set(`SHA256:${digest}`, email);
      }
      return file;
    },
    async work(files = { 'index.html': 'hello\n' }) {
      const directory = await mkdtemp(join(root, 'work-'));
      await world.git(directory, ['init', '-q', '-b', 'main']);
      await world.commit(directory, files);
      return directory;
    },
    async commit(directory, files) {
      for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
      await world.git(directory, ['add', '-A']);
      await world.git(directory, ['commit', '-q', '--allow-empty', '-m', 'change']);
      return (await world.git(directory, ['rev-parse', 'HEAD'])).stdout.trim();
    },
    start: (program, args, how = {}) => start(root, program, args, how),
    git: (cwd, args, key) => start(root, 'git', args, { cwd, ...(key === undefined ? {} : { key }) }).done,
    async dispose() {
      await ssh.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await host.close();
      await rm(root, { recursive: true, force: true });
    },
  };
  return world;
}

function recordingLogger(logs: { level: string; fields: object; message: string }[]): Logger {
  const at = (level: string) => (fields: object, message: string) => {
    logs.push({ level, fields, message });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function start(home: string, program: string, args: readonly string[], how: { cwd?: string; key?: string }): Running {
  const ssh = ['ssh', '-F', '/dev/null', ...sshOptions(how.key)].join(' ');
  const child = spawn(program, args, {
    cwd: how.cwd ?? home,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_SSH_COMMAND: ssh,
      GIT_AUTHOR_NAME: 'Ann',
      GIT_AUTHOR_EMAIL: ANN,
      GIT_COMMITTER_NAME: 'Ann',
      GIT_COMMITTER_EMAIL: ANN,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const done = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    child,
    done,
    stderr: () => stderr,
    interrupt: () => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
    },
    shows: (text) =>
      until(() => {
        if (stderr.includes(text)) return true;
        if (child.exitCode !== null) throw new Error(`ended without showing "${text}":\n${stderr}`);
        return false;
      }, `"${text}"`),
  };
}

export function sshOptions(key: string | undefined): string[] {
  const settings = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'IdentitiesOnly=yes', 'LogLevel=ERROR'];
  settings.push('BatchMode=yes', 'IdentityAgent=none');
  return [...settings.flatMap((setting) => ['-o', setting]), ...(key === undefined ? [] : ['-i', key])];
}

function deployed(name: string, code: NewCode): Deploy {
  return {
    id: '0'.repeat(24),
    app: name,
    state: 'done',
    commit: code.commit,
    origin: code.origin,
    by: ANN,
    startedAt: new Date(0).toISOString(),
    finishedAt: new Date(0).toISOString(),
    durationMs: 0,
    release: 1,
    artifact: 'a',
    cause: null,
    error: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
  };
}

export async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8');
}

/** A door that a test opens. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
