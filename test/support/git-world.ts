/** Both git doors over real repositories, with real git and ssh as clients; users, apps and deploys are small and in memory. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type BareRepos,
  createBareRepos,
  type RepositoryRows,
} from '../../src/backends/git-host/bare-repos/bare-repos.ts';
import type { AuditedAction } from '../../src/domain/audit/audit.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { PRE_RECEIVE } from '../../src/git-push/hook.ts';
import { createGitHttp, type GitHttp } from '../../src/git-push/http.ts';
import { createGitSessions } from '../../src/git-push/sessions.ts';
import { createSshDoor } from '../../src/git-push/ssh.ts';
import type { Logger } from '../../src/lib/logger.ts';
import { ANN, ANN_TOKEN, APPS, type DeployCall, deploysOf, usersOf } from './git-people.ts';
import { type Finished, type Running, start } from './programs.ts';

export interface GitWorld {
  readonly root: string;
  readonly host: BareRepos;
  readonly logs: { readonly level: string; readonly fields: object; readonly message: string }[];
  /** What a deploy does; replaced by a test. */
  onDeploy: (call: DeployCall) => Promise<void>;
  /** Before the owner of a key is looked up. */
  onLookup: () => Promise<void>;
  /** Throws when there is too little for a push. */
  demandDisk: () => Promise<void>;
  /** Whether who is served still may be. */
  mayStill: boolean;
  /** What the doors have refused. */
  readonly refused: AuditedAction[];
  readonly ssh: { readonly port: number; readonly hostKeyFile: string };
  readonly http: { readonly port: number };
  sshUrl(app: string): string;
  httpUrl(app: string, user?: string, secret?: string): string;
  /** Makes a key pair; `email` undefined leaves it unknown to the platform. */
  key(type: 'ed25519' | 'rsa' | 'ecdsa', email?: string): string;
  /** As if the user had removed them, or had been removed. */
  forgetKeys(email: string): void;
  /** A repository with one commit on main. */
  work(files?: Readonly<Record<string, string>>): Promise<string>;
  commit(directory: string, files: Readonly<Record<string, string | Buffer>>): Promise<string>;
  start(program: string, args: readonly string[], options?: { cwd?: string; key?: string }): Running;
  git(cwd: string, args: readonly string[], key?: string): Promise<Finished>;
  dispose(): Promise<void>;
}

export async function createGitWorld(
  options: {
    maxPushBytes?: number;
    maxRepositoryBytes?: number;
    authTimeoutMs?: number;
    mostConnectionsOfUser?: number;
    /** Until it resolves the server is starting; a command over SSH waits for so long. */
    start?: { opened: Promise<void>; startPatienceMs: number };
    /** Where repositories are that several of them share. */
    store?: RepositoryRows;
  } = {},
): Promise<GitWorld> {
  const root = await mkdtemp(join(tmpdir(), 'git-world-'));
  await writeFile(join(root, '.gitconfig'), '[core]\n\tcompression = 0\n');
  const logs: GitWorld['logs'] = [];
  const logger = recordingLogger(logs);
  const own = await createBareRepos({
    root: join(root, 'repositories'),
    preReceive: PRE_RECEIVE,
    logger,
    ...(options.maxPushBytes === undefined ? {} : { maxPushBytes: options.maxPushBytes }),
    ...(options.maxRepositoryBytes === undefined ? {} : { maxRepositoryBytes: options.maxRepositoryBytes }),
  });
  const { store = null } = options;
  const host = store === null ? own : await own.sharedBy(store);
  await host.create('shop');

  const owners = new Map<string, string>();
  const known = usersOf(owners);
  const users: typeof known = {
    ...known,
    async bySshKey(fingerprint, address) {
      await world.onLookup();
      return known.bySshKey(fingerprint, address);
    },
  };
  const refused: GitWorld['refused'] = [];
  const audit = { refused: (attempt: AuditedAction) => void refused.push(attempt) };
  const deploys = deploysOf((call) => world.onDeploy(call), store);
  const sessions = createGitSessions({
    repositories: host,
    apps: APPS,
    callerNow: async (caller) => caller,
    mayStill: async () => world.mayStill,
    recheckMs: 10,
    audit,
    deploys,
    disk: { demandSome: () => world.demandDisk() },
    logger,
  });
  const hostKeyFile = join(root, 'keys', 'host');
  const listen = { host: '127.0.0.1', port: 0 };
  const timeout = options.authTimeoutMs === undefined ? {} : { authTimeoutMs: options.authTimeoutMs };
  const most = options.mostConnectionsOfUser;
  const how = { ...timeout, ...options.start, ...(most !== undefined && { mostConnectionsOfUser: most }) };
  const ssh = await createSshDoor({ listen, hostKeyFile, users, audit, sessions, logger, ...how });
  const server = await listenFor(
    createGitHttp({
      users,
      // As whose it is that apps send is not the door's to know.
      refuseApps: async ({ headers }) => {
        if (headers['x-from-app'] !== undefined) throw new PlatformError('access.denied', 'An app sends it.');
      },
      audit,
      sessions,
      logger,
    }),
  );
  const httpPort = (server.address() as AddressInfo).port;

  let keys = 0;
  const world: GitWorld = {
    root,
    host,
    logs,
    refused,
    onDeploy: async () => {},
    onLookup: async () => {},
    demandDisk: async () => {},
    mayStill: true,
    ssh: { port: ssh.address.port, hostKeyFile },
    http: { port: httpPort },
    sshUrl: (name) => `ssh://git@127.0.0.1:${ssh.address.port}/${name}.git`,
    httpUrl: (name, email = ANN, secret = ANN_TOKEN) =>
      `http://${encodeURIComponent(email)}:${encodeURIComponent(secret)}@127.0.0.1:${httpPort}/git/${name}.git`,
    key(type, email) {
      const file = join(root, `key-${(keys += 1)}`);
      const fingerprint = makeKey(file, type);
      if (email !== undefined) owners.set(fingerprint, email);
      return file;
    },
    forgetKeys(email) {
      for (const [fingerprint, owner] of owners) if (owner === email) owners.delete(fingerprint);
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

async function listenFor(gitHttp: GitHttp): Promise<Server> {
  const server = createServer((request, response) => {
    if (!gitHttp(request, response)) response.writeHead(418).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Answers the fingerprint. */
function makeKey(file: string, type: 'ed25519' | 'rsa' | 'ecdsa'): string {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', file, ...(type === 'rsa' ? ['-b', '2048'] : [])]);
  const line = execFileSync('ssh-keygen', ['-y', '-f', file]).toString();
  const blob = Buffer.from(line.split(' ')[1] ?? '', 'base64');
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

function recordingLogger(logs: { level: string; fields: object; message: string }[]): Logger {
  const at = (level: string) => (fields: object, message: string) => {
    logs.push({ level, fields, message });
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
