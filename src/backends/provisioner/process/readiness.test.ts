import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../../../../test/support/free-port.ts';
import { until } from '../../../../test/support/until.ts';
import type { ReadyCheck } from '../../../domain/units/provisioner.ts';
import type { Failure } from '../../../domain/failure.ts';
import type { Address } from '../../../domain/units/unit.ts';
import { parseUnaccepted } from './accept-check.ts';
import { DEFAULT_READINESS, waitReady } from './readiness.ts';

/** Listens, and accepts nothing before the file is there; ends then when the file says so. As servers that load the app last. */
const LATE = `
const { existsSync, readFileSync } = require('node:fs');
const [port, file] = process.argv.slice(1);
require('node:net').createServer((socket) => socket.end()).listen(Number(port), '127.0.0.1', () => {
  while (!existsSync(file)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  if (readFileSync(file, 'utf8') === 'end') process.exit(3);
});
`;
const SERVES: ReadyCheck = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
const NEVER = new AbortController().signal;

let home: string;
let child: ChildProcess;
const sockets: Socket[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'readiness-'));
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  child.kill('SIGKILL');
  await rm(home, { recursive: true, force: true });
});

async function startLate(check: Partial<ReadyCheck> = {}) {
  const port = await freePort();
  const file = join(home, 'loaded');
  child = spawn(process.execPath, ['-e', LATE, String(port), file], { stdio: 'ignore' });
  const gone = new Promise<{ code: number | null; signal: string | null; outOfMemory: boolean }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, outOfMemory: false }));
  });
  const unit = {
    app: 'shop',
    process: 'web',
    port,
    address: null,
    gone,
    pids: async () => [child.pid ?? 0],
    lastLines: async () => [],
  };
  const verdict: { at: Address | Failure | null } = { at: null };
  const ready = waitReady(unit, { ...SERVES, ...check }, { signal: NEVER, limits: DEFAULT_READINESS }).then(
    (address) => (verdict.at = address),
    (error: unknown) => (verdict.at = error as Failure),
  );
  // The kernel has a connection of ours, and one of those who look.
  const isWaitedFor = async (): Promise<boolean> => {
    if (sockets.length === 0) await tryToConnect(port);
    return (parseUnaccepted(await readFile('/proc/self/net/tcp', 'latin1')).get(port)?.size ?? 0) >= 2;
  };
  await until(isWaitedFor, { what: 'two connections that nobody has accepted' });
  // All of it at once: who waits may read it at any time.
  const say = async (text: string): Promise<void> => {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  };
  return { port, say, ready, verdict };
}

function tryToConnect(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('error', () => resolve());
    socket.once('connect', () => {
      sockets.push(socket.on('error', () => undefined));
      resolve();
    });
  });
}

it('waits for a server that listens and accepts nothing yet', async () => {
  const { port, say, ready, verdict } = await startLate();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  expect(verdict.at).toBeNull();
  await say('go on');
  await ready;
  expect(verdict.at).toEqual({ host: '127.0.0.1', port });
});

it('says how a server ended that had listened, but never served', async () => {
  const { say, ready, verdict } = await startLate();
  await say('end');
  await ready;
  expect(verdict.at).toMatchObject({ code: 'exited', exitCode: 3 });
});

it('says so where it accepts nothing within its time', async () => {
  const { ready, verdict } = await startLate({ timeoutMs: 1_000 });
  await ready;
  expect(verdict.at).toMatchObject({
    code: 'no_listener',
    message: expect.stringMatching(/accepted no connection within 1 second/) as string,
  });
});
