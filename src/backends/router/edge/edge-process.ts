import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PlatformError } from '../../../domain/errors.ts';
import { hostPort } from '../../../lib/host-port.ts';
import { readProcess } from '../../../lib/sandbox/processes.ts';
import type { EdgeRouterOptions } from './edge-options.ts';

const MAX_LOG_BYTES = 1_048_576;
const POLL_MS = 10;
/** sun_path is 108 bytes on Linux, 104 elsewhere. */
const MAX_SOCKET_PATH = 103;

export interface Paths {
  readonly socket: string;
  readonly pid: string;
  readonly log: string;
}

export function pathsOf(options: EdgeRouterOptions): Paths {
  return {
    socket: join(options.runDir, 'edge.sock'),
    pid: join(options.runDir, 'edge.pid'),
    log: join(options.stateDir, 'edge.log'),
  };
}

/** Makes the directories; throws `config.invalid` when the control socket's path would be too long for the system. */
export async function prepareDirectories(options: EdgeRouterOptions): Promise<void> {
  const { socket } = pathsOf(options);
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH) {
    throw new PlatformError('config.invalid', `The path ${socket} is too long for a socket.`, {
      hint: `Set TANCHO_HOME to a shorter path: at most ${MAX_SOCKET_PATH} bytes are possible.`,
    });
  }
  await mkdir(options.stateDir, { recursive: true, mode: 0o700 });
  await mkdir(options.runDir, { recursive: true, mode: 0o700 });
}

/** Changes whenever a running edge should be replaced: other code, other Node, other options. */
export async function fingerprintOf(options: EdgeRouterOptions): Promise<string> {
  const { workers, stopGraceMs, limits, timeouts, trustedProxies = [], proxyProtocol = false } = options;
  const hash = createHash('sha256').update(execPathOf(options));
  const bounds = [stopGraceMs ?? null, limits ?? null, timeouts ?? null];
  hash.update(JSON.stringify([process.version, workers, bounds, trustedProxies, proxyProtocol]));
  const directory = dirname(options.entry);
  const names = await readdir(directory, { recursive: true });
  for (const name of names.filter((entry) => entry.endsWith('.js')).sort()) {
    hash.update(`${name}\0`).update(await readFile(join(directory, name)));
  }
  return hash.digest('hex').slice(0, 24);
}

/** Starts the program in a session of its own, so that it outlives this process; its output goes to the log file. */
export async function spawnEdge(
  options: EdgeRouterOptions,
  how: { fingerprint: string; port: number; replaces: number },
): Promise<ChildProcess> {
  const { stateDir, runDir, workers, stopGraceMs, limits, timeouts, trustedProxies, proxyProtocol, listen } = options;
  const argument = JSON.stringify({
    stateDir,
    runDir,
    host: listen.host,
    workers,
    stopGraceMs,
    limits,
    timeouts,
    trustedProxies,
    proxyProtocol,
    ...how,
  });
  const log = await openLog(pathsOf(options).log);
  try {
    const child = spawn(execPathOf(options), [options.entry, argument], {
      detached: true,
      cwd: stateDir,
      env: {},
      stdio: ['ignore', log.fd, log.fd],
    });
    child.unref();
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return child;
  } finally {
    await log.close();
  }
}

async function openLog(path: string): Promise<FileHandle> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  return open(path, size > MAX_LOG_BYTES ? 'w' : 'a', 0o600);
}

/** Why the program ended at its start, as far as its exit code tells. */
export function startFailure(options: EdgeRouterOptions, code: number | null, port: number): PlatformError {
  const address = hostPort({ host: options.listen.host, port });
  const set = 'set TANCHO_EDGE_LISTEN to another address';
  switch (code) {
    case 98:
      return new PlatformError('config.invalid', `Another program already listens on ${address}: end it or ${set}.`);
    case 13:
      return new PlatformError('config.invalid', `This user may not listen on ${address}: ${set}, or start as root.`);
    case 99:
      return new PlatformError('config.invalid', `${address} is no address of this machine: ${set}.`);
    default:
      return new PlatformError('unavailable', `The edge ended at its start (exit code ${code ?? 'none'}).`, {
        hint: `${pathsOf(options).log} says why.`,
      });
  }
}

/** True while a process with this pid runs (a zombie does not) and is the edge of this home. */
export async function isEdgeOf(options: EdgeRouterOptions, pid: number): Promise<boolean> {
  if (readProcess(pid)?.zombie !== false) return false;
  // Without /proc, or gone meanwhile: only what answers on the socket is known to be the edge.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.includes(JSON.stringify(options.stateDir));
}

/** TERM, then KILL after `graceMs`; resolves once the process is gone. */
export async function endEdge(options: EdgeRouterOptions, pid: number, graceMs: number): Promise<void> {
  signal(pid, 'SIGTERM');
  if (await isGone(options, pid, graceMs)) return;
  signal(pid, 'SIGKILL');
  if (await isGone(options, pid, graceMs)) return;
  throw new PlatformError('unavailable', `The edge (process ${pid}) could not be ended.`);
}

async function isGone(options: EdgeRouterOptions, pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (await isEdgeOf(options, pid)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function execPathOf(options: EdgeRouterOptions): string {
  return options.execPath ?? process.execPath;
}
