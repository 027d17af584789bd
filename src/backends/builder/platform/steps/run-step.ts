/** Runs one command in the sandbox to its end, and leaves no process of it behind. */
import { once } from 'node:events';
import { atMost } from '../../../../lib/deadline.ts';
import { randomHex } from '../../../../lib/ids.ts';
import type { Sandbox, SandboxProcess, SandboxRequest } from '../../../../lib/sandbox/sandbox.ts';
import { LineSplitter } from './output.ts';

const CLOSE_MS = 2000;

export type Binds = SandboxRequest['binds'];
export type StepLimits = SandboxRequest['limits'];

export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tenant: string;
  readonly binds: Binds;
  readonly limits: StepLimits;
  readonly signal: AbortSignal;
  /** Gets every line of the standard output. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
}

/** Rejects with the signal's reason when it fires; the whole process tree is gone by then. */
export async function runStep(sandbox: Sandbox, command: Command): Promise<Ended> {
  command.signal.throwIfAborted();
  const id = `build-${randomHex(16)}`;
  const { argv, cwd, env, tenant, binds, limits } = command;
  const process = await sandbox.spawn({
    argv,
    cwd,
    env,
    tenant,
    binds,
    limits,
    stdio: ['ignore', 'pipe', 'pipe'],
    dieWithParent: true,
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

async function watch(
  sandbox: Sandbox,
  process: SandboxProcess,
  id: string,
  command: Command,
): Promise<Omit<Ended, 'outOfMemory'>> {
  const { child } = process;
  const kill = (): Promise<void> =>
    sandbox.kill({ rootPid: process.rootPid, rootStart: process.rootStart, id }, 'SIGKILL');
  const splitters = [new LineSplitter(command.stdout), new LineSplitter(command.stderr)];
  child.stdout?.on('data', (bytes: Uint8Array) => splitters[0]?.push(bytes));
  child.stderr?.on('data', (bytes: Uint8Array) => splitters[1]?.push(bytes));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const failedKill: unknown[] = [];
  const onAbort = (): void => void kill().catch((error: unknown) => failedKill.push(error));
  command.signal.addEventListener('abort', onAbort, { once: true });
  if (command.signal.aborted) onAbort();
  try {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await kill();
    await atMost(CLOSE_MS, closed);
  } finally {
    command.signal.removeEventListener('abort', onAbort);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  command.signal.throwIfAborted();
  for (const splitter of splitters) splitter.end();
  return { code: child.exitCode, signal: child.signalCode };
}
