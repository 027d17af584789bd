/**
 * Databases on a real PostgreSQL for tests: the server of TANCHO_TEST_DATABASE_URL when it is set, else one of our own
 * that lives as long as a test file has a database open on it.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { access, chmod, chown, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { randomHex } from '../../src/lib/ids.ts';
import { freePort } from './free-port.ts';

export interface TestDatabase {
  readonly url: string;
  /** Drops the database; the last one of a server of our own stops and removes that too. */
  dispose(): Promise<void>;
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

/** A server with one database, which may be killed: what it has acknowledged is there when it has started again. */
export interface DurableDatabase extends TestDatabase {
  /** It ends as in a crash, all connections being cut, and starts again at the same address. */
  crash(): Promise<void>;
}

interface OwnServer extends Server {
  crash(): Promise<void>;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: '100',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
};
/** What is committed is with the system, which here never dies. */
const DURABLE = { ...SETTINGS, synchronous_commit: 'on', full_page_writes: 'on' };
type ServerSettings = Readonly<Record<string, string>>;
const START_ATTEMPTS = 3;
const START_MS = 120_000;
const STOP_MS = 120_000;
const run = promisify(execFile);

let server: Promise<Server | null> | null = null;
let users = 0;

/** A new, empty database; null, and one line that says why, when there is no PostgreSQL on this machine. */
export async function createTestDatabase(): Promise<TestDatabase | null> {
  users += 1;
  server ??= givenServer() ?? ownServer();
  const running = await server.catch((error: unknown) => {
    server = null;
    throw error;
  });
  if (running === null) {
    users -= 1;
    return null;
  }
  const name = `tancho_test_${randomHex(12)}`;
  await asAdmin(running.url, `CREATE DATABASE ${name}`);
  const url = new URL(running.url);
  url.pathname = `/${name}`;
  let disposed = false;
  const dispose = async (): Promise<void> => {
    if (disposed) return;
    disposed = true;
    users -= 1;
    if (users > 0 || isGiven()) return asAdmin(running.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    server = null;
    await running.stop();
  };
  return { url: url.href, dispose };
}

/** Null, and one line that says why, when there is no PostgreSQL on this machine. */
export async function createDurableDatabase(): Promise<DurableDatabase | null> {
  const own = await ownServer(DURABLE);
  if (own === null) return null;
  const url = new URL(own.url);
  url.pathname = '/tancho';
  await asAdmin(own.url, 'CREATE DATABASE tancho');
  return { url: url.href, crash: () => own.crash(), dispose: () => own.stop() };
}

function isGiven(): boolean {
  return (process.env['TANCHO_TEST_DATABASE_URL'] ?? '') !== '';
}

function givenServer(): Promise<Server> | null {
  const url = process.env['TANCHO_TEST_DATABASE_URL'] ?? '';
  return url === '' ? null : Promise.resolve({ url, stop: async () => {} });
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function ownServer(settings: ServerSettings = SETTINGS): Promise<OwnServer | null> {
  const bin = await findBinaries();
  const account = process.getuid?.() === 0 ? await unprivilegedAccount() : null;
  if (bin === null || account === undefined) {
    const lacking = bin === null ? 'no initdb and postgres on this machine' : 'no account postgres or nobody';
    console.warn(`PostgreSQL suites are skipped: ${lacking} (TANCHO_TEST_DATABASE_URL names a server to use instead).`);
    return null;
  }
  const folder = await newFolder();
  try {
    const template = await templateOfRun(bin, account);
    if (template === null) await initialize(bin, folder, account);
    else await run('cp', ['-a', '--reflink=auto', `${template}/.`, folder], { timeout: START_MS });
    const password = await readFile(path.join(folder, 'password'), 'utf8');
    return await start({ bin, folder, account, settings }, password);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

const newFolder = (): Promise<string> => mkdtemp(path.join(tmpdir(), 'tancho-postgres-'));

/** What the first that needs a server in a run has initialized, for all of them to copy: that takes a tenth of the time. */
async function templateOfRun(bin: string, account: Account | null): Promise<string | null> {
  const folderOfRun = process.env['TANCHO_TEST_RUN'] ?? '';
  if (folderOfRun === '') return null;
  const template = path.join(folderOfRun, 'postgres');
  if (await isThere(template)) return template;
  const draft = await newFolder();
  await initialize(bin, draft, account);
  await rename(draft, template).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    if (!(await isThere(template))) throw error;
  });
  return template;
}

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** The newest folder that has both programs. */
async function findBinaries(): Promise<string | null> {
  const debian = '/usr/lib/postgresql';
  const versions = (await readdir(debian).catch(() => [])).sort((a, b) => Number(b) - Number(a));
  const folders = [
    ...versions.map((version) => path.join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(path.delimiter),
  ];
  for (const folder of folders.filter((name) => path.isAbsolute(name))) {
    const wanted = ['initdb', 'postgres'].map((program) => access(path.join(folder, program)));
    const found = await Promise.allSettled(wanted);
    if (found.every((result) => result.status === 'fulfilled')) return folder;
  }
  return null;
}

/** PostgreSQL refuses to run as root. Undefined: there is nobody to run it as. */
async function unprivilegedAccount(): Promise<Account | undefined> {
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const found = accounts.find(([name]) => name === wanted);
    if (found !== undefined) return { uid: Number(found[2]), gid: Number(found[3]) };
  }
  return undefined;
}

async function initialize(bin: string, folder: string, account: Account | null): Promise<void> {
  const passwordFile = path.join(folder, 'password');
  await writeFile(passwordFile, randomHex(24), { mode: 0o600 });
  if (account !== null) {
    await chown(folder, account.uid, account.gid);
    await chown(passwordFile, account.uid, account.gid);
  }
  await chmod(folder, 0o700);
  const args = ['-D', path.join(folder, 'data'), '-U', 'tancho', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  // A locale that does not sort by byte, as most servers in the world have.
  const locale = ['--encoding=UTF8', '--no-sync', ...(await sortingLocale(bin))];
  await run(path.join(bin, 'initdb'), [...args, ...locale], { cwd: folder, ...(account ?? {}), timeout: 120_000 });
}

async function sortingLocale(bin: string): Promise<string[]> {
  const { stdout } = await run(path.join(bin, 'postgres'), ['--version']);
  const major = Number(/\d+/.exec(stdout)?.[0] ?? 0);
  return major >= 15 ? ['--locale=C', '--locale-provider=icu', '--icu-locale=en-US'] : ['--locale=C'];
}

interface Launch {
  readonly bin: string;
  readonly folder: string;
  readonly account: Account | null;
  readonly settings: ServerSettings;
}

async function start(own: Launch, password: string): Promise<OwnServer> {
  const { folder } = own;
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    let child = await launch(own, port);
    const url = `postgres://tancho:${password}@127.0.0.1:${port}/postgres`;
    const onExit = (): void => {
      child.kill('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    };
    process.once('exit', onExit);
    const stop = async (): Promise<void> => {
      process.off('exit', onExit);
      await ended(child, 'SIGINT');
      await rm(folder, { recursive: true, force: true });
    };
    const crash = async (): Promise<void> => {
      await ended(child, 'SIGQUIT');
      child = await launch(own, port);
      if (!(await answers(url, child))) throw new Error('The PostgreSQL of the tests does not start again.');
    };
    if (await answers(url, child)) return { url, stop, crash };
    process.off('exit', onExit);
    await ended(child, 'SIGINT');
    // Somebody may have taken the port in between.
    if (attempt === START_ATTEMPTS) throw new Error('The PostgreSQL of the tests does not start.');
  }
}

/** Where setpriv is, the server also ends when the test process is killed. */
async function launch({ bin, folder, account, settings }: Launch, port: number): Promise<ChildProcess> {
  const options = Object.entries({ ...settings, port: String(port) }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  const command = [path.join(bin, 'postgres'), '-D', path.join(folder, 'data'), ...options];
  const setpriv = '/usr/bin/setpriv';
  if (!(await isThere(setpriv))) return launched(command, folder, account ?? {});
  const identity = account === null ? [] : [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return launched([setpriv, ...identity, '--pdeathsig=INT', ...command], folder, {});
}

function launched([program = '', ...args]: string[], cwd: string, account: Account | object): ChildProcess {
  return spawn(program, args, { cwd, stdio: 'ignore', ...account });
}

async function answers(url: string, child: ChildProcess): Promise<boolean> {
  const deadline = Date.now() + START_MS;
  while (child.exitCode === null && Date.now() < deadline) {
    try {
      await asAdmin(url, 'SELECT 1');
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  return false;
}

async function ended(child: ChildProcess, signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(timer);
}
