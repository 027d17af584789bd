/**
 * A real Redis for tests: a process of our own on a free port, with a password and its data in a temporary directory.
 * Null, and one line that says why, when there is none on this machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { randomHex } from '../../src/lib/ids.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const START_MS = 120_000;

export interface TestRedis {
  /** Of the user who may do everything. */
  readonly url: string;
  /** Ends it as a crash does; what it knew comes back from its files. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

export async function startRedis(options: { aclFile?: boolean } = {}): Promise<TestRedis | null> {
  const program = await findProgram();
  if (program === null) {
    console.warn('Redis suites are skipped: there is no redis-server on this machine.');
    return null;
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'tancho-redis-'));
  const password = randomHex(24);
  const port = await freePort();
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const users = options.aclFile === true ? `aclfile ${folder}/users.acl` : `requirepass ${password}`;
  await writeFile(path.join(folder, 'users.acl'), `user default on >${password} ~* &* +@all\n`, { mode: 0o600 });
  const settings = ['bind 127.0.0.1', `port ${port}`, `dir ${folder}`, 'save ""', 'appendonly yes', users];
  await writeFile(path.join(folder, 'redis.conf'), `${settings.join('\n')}\n`, { mode: 0o600 });

  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(program, [path.join(folder, 'redis.conf')], { stdio: 'ignore', cwd: folder });
    await until(() => answers(url, child), { timeoutMs: START_MS, what: 'Redis to answer' });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const onExit = (): void => void child.kill('SIGKILL');
  process.once('exit', onExit);
  const dispose = async (): Promise<void> => {
    process.off('exit', onExit);
    await end('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url,
    async restart() {
      await end('SIGTERM');
      await start();
    },
    dispose,
  };
}

async function findProgram(): Promise<string | null> {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/bin', '/usr/local/bin'];
  for (const folder of folders.filter((name) => path.isAbsolute(name))) {
    const program = path.join(folder, 'redis-server');
    const isThere = await access(program).then(
      () => true,
      () => false,
    );
    if (isThere) return program;
  }
  return null;
}

async function answers(url: string, child: ChildProcess): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 1_000 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return (await redis.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
