/** Runs one command in the sandbox to its end, and leaves no process of it behind. */
import { atMost } from '../../../../lib/deadline.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { once } from '../../../../lib/once.ts';
import { childEnd } from '../../../../sandbox/child-end.ts';
import type { Sandbox, SandboxProcess, SandboxRequest } from '../../../../sandbox/sandbox.ts';
import { findProgram } from '../../../../lib/find-program.ts';
import { TerminalLines } from './output.ts';

const CLOSE_MS = 2000;
/** Apps come first: with the processor, and with the disk. */
const WRAPPERS = [
  ['nice', '-n', '10'],
  ['ionice', '-t', '-c', '2', '-n', '7'],
] as const;

type Binds = SandboxRequest['binds'];
export type StepLimits = SandboxRequest['limits'];

interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tenant: string;
  readonly binds: Binds;
  /** Absent: the system's directories. */
  readonly root?: SandboxRequest['root'];
  readonly limits: StepLimits;
  readonly signal: AbortSignal;
  /** See SandboxRequest. */
  readonly manyUsers?: boolean;
  /** Gets every line of the standard output. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
}

/** A quarter of what apps get. */
const LOW_CPU_SHARE = 25;

/** Rejects with the signal's reason when it fires; the whole process tree is gone by then. */
export async function runStep(sandbox: Sandbox, command: Command): Promise<Ended> {
  command.signal.throwIfAborted();
  const id = `build-${randomHex(16)}`;
  const { argv, cwd, env, tenant, binds } = command;
  const limits = { ...command.limits, cpuShare: LOW_CPU_SHARE };
  const process = await sandbox.spawn({
    // Of the machine: a root of its own does not have them.
    argv: command.root === undefined ? [...behind(), ...argv] : argv,
    cwd,
    env,
    tenant,
    binds,
    limits,
    stdio: ['ignore', 'pipe', 'pipe'],
    dieWithParent: true,
    ...(command.root !== undefined && { root: command.root }),
    ...(command.manyUsers === true && { manyUsers: true }),
    id,
  });
  try {
    const ended = await watch(sandbox, process, id, command);
    const outOfMemory = ended.code === 0 ? false : await sandbox.outOfMemory(id);
    return { ...ended, outOfMemory };
  } finally {
    await sandbox.release(id);
  }
}

/** The programs that lower what runs behind them; those that this machine has. */
const behind = once(() =>
  WRAPPERS.flatMap(([name, ...options]) => {
    const file = findProgram(name);
    return file === null ? [] : [file, ...options];
  }),
);

async function watch(
  sandbox: Sandbox,
  process: SandboxProcess,
  id: string,
  command: Command,
): Promise<Omit<Ended, 'outOfMemory'>> {
  const { child } = process;
  const { ended, end } = childEnd(sandbox, process, id);
  const splitters = [new TerminalLines(command.stdout), new TerminalLines(command.stderr)];
  child.stdout?.on('data', (bytes: Uint8Array) => splitters[0]?.push(bytes));
  child.stderr?.on('data', (bytes: Uint8Array) => splitters[1]?.push(bytes));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  command.signal.addEventListener('abort', end, { once: true });
  if (command.signal.aborted) end();
  try {
    const status = await ended;
    // What it left in the background.
    await sandbox.kill({ rootPid: process.rootPid, rootStart: process.rootStart, id }, 'SIGKILL');
    await atMost(CLOSE_MS, closed);
    command.signal.throwIfAborted();
    for (const splitter of splitters) splitter.end();
    return status;
  } finally {
    command.signal.removeEventListener('abort', end);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
