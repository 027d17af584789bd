/**
 * How every git process of the platform is started: argv only, a closed environment, the platform's own configuration and
 * nobody else's, bounded output and time.
 */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { PlatformError } from '../../../domain/errors.ts';
import { demandSpawned } from '../../../lib/demand-spawned.ts';
import { findProgram } from '../../../lib/find-program.ts';
import { killGroup, sendSignal } from '../../../lib/processes.ts';

export interface Git {
  /** Path or name of the program. */
  readonly program: string;
  /** The platform's own directory, with its configuration and hooks. */
  readonly home: string;
  /** Of memory, that a git which reads what users have sent may take, where the system can hold it to that. */
  readonly maxMemoryBytes: number;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Written to standard input. */
  readonly input?: string;
  /** Standard output beyond this is cut and the process ended; `truncated` then says so. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  /** See Git.maxMemoryBytes. */
  readonly isBounded?: boolean;
}

interface RunResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly truncated: boolean;
}

const MAX_STDERR = 8 * 1024;
const DEFAULT_MAX_BYTES = 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 30_000;
const KILL_AFTER_MS = 3_000;

export const CONFIG_FILE = '.gitconfig';

/** The complete environment of a git process. HOME and GIT_CONFIG_GLOBAL name the same file: git before 2.32 knows only HOME. */
function gitEnvironment(git: Git): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: git.home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: `${git.home}/${CONFIG_FILE}`,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // A pushed replacement would be built in place of the commit that the deploy names.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_DEFAULT_REF_FORMAT: 'files',
  };
}

/** Throws PlatformError `unavailable` where no process can be made at all; that there is no git is the child's error. */
export function spawnGit(
  git: Git,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; stdio: StdioOptions; isBounded?: boolean },
): ChildProcess {
  const [program = git.program, ...given] = [...(options.isBounded === true ? bounded(git) : []), git.program, ...args];
  const env = { ...gitEnvironment(git), ...options.env };
  try {
    // Its own process group, so that ending it also ends what git itself has started.
    return demandSpawned(spawn(program, given, { cwd: git.home, env, stdio: options.stdio, detached: true }));
  } catch (error) {
    throw notStarted(error as Error);
  }
}

/** A few kilobytes of differences can stand for objects of any size, which git makes in memory. */
function bounded({ program, maxMemoryBytes }: Git): string[] {
  const prlimit = findProgram('prlimit');
  // A git that is missing is to fail in its own way.
  if (prlimit === null || findProgram(program) === null) return [];
  return [prlimit, `--data=${maxMemoryBytes}`, '--'];
}

/** Ends a process and everything it started: asks first, so that git removes its lock files, then insists. */
export function endGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  sendSignal(-pid, 'SIGTERM');
  const insist = setTimeout(() => killGroup(pid), KILL_AFTER_MS);
  child.once('exit', () => clearTimeout(insist));
}

/** The end of a process; a program that could not be started is `unavailable`, also where nobody has asked for the end yet. */
export function exitOf(child: ChildProcess): Promise<number> {
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error)));
    child.once('close', (code) => resolve(code ?? -1));
  });
  ended.catch(() => {});
  return ended;
}

export function notStarted(error: Error): PlatformError {
  const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return new PlatformError('unavailable', missing ? 'git is not installed on the server.' : 'git cannot be started.', {
    hint: 'The operator can install git (2.28 or newer) and try again; no restart is needed.',
    cause: error,
  });
}

/** Runs git to its end and keeps its output. A non-zero exit is a result, not an error. */
export async function runGit(git: Git, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { maxBytes = DEFAULT_MAX_BYTES, timeoutMs = DEFAULT_TIMEOUT_MS, signal, isBounded = false } = options;
  signal?.throwIfAborted();
  const child = spawnGit(git, args, { env: options.env ?? {}, stdio: 'pipe', isBounded });
  // A program that does not read its input is judged by its exit code, not by this.
  child.stdin?.on('error', () => {}).end(options.input ?? '');
  const end = (): void => endGroup(child);
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });

  const chunks: Buffer[] = [];
  let bytes = 0;
  let truncated = false;
  child.stdout?.on('data', (chunk: Buffer) => {
    if (truncated) return;
    const room = maxBytes - bytes;
    chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    bytes += chunk.length;
    if (chunk.length <= room) return;
    truncated = true;
    end();
  });
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_STDERR) stderr += text.slice(0, MAX_STDERR - stderr.length);
  });

  try {
    const code = await exitOf(child);
    signal?.throwIfAborted();
    return { code, stdout: Buffer.concat(chunks), stderr: stderr.trim(), truncated };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/** Runs git where anything but success is a fault of the platform. */
export async function mustRunGit(git: Git, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  const result = await runGit(git, args, options);
  if (result.code !== 0) throw new Error(`git ${args[0] ?? ''} failed with ${result.code}: ${result.stderr}`);
  return result.stdout;
}
