/** The smallest Sandbox: a process group, no isolation, no limits. With `uid`, tenants are that user (needs root). */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Usage, usageOfProcesses } from '../../src/sandbox/usage.ts';
import type { Sandbox, SandboxProcess, SandboxRequest } from '../../src/sandbox/sandbox.ts';

const run = promisify(execFile);

type Tree = Parameters<Sandbox['kill']>[0];

export class PlainSandbox implements Sandbox {
  readonly level;
  readonly description = 'for tests';
  readonly limits = { memory: false, cpu: false, processes: false };
  readonly roots = false;
  readonly networks = false;
  readonly users = null;
  readonly links = false;
  readonly manyUsers = false;
  /** The requests seen, in order. */
  readonly requests: SandboxRequest[] = [];
  /** Tenants whose user was given back. */
  readonly forgotten: string[] = [];
  readonly #uid: number | undefined;

  constructor(options: { uid?: number } = {}) {
    this.#uid = options.uid;
    this.level = options.uid === undefined ? ('plain' as const) : ('user' as const);
  }

  userOf(): number | null {
    return this.#uid ?? null;
  }

  async usage(trees: readonly Tree[]): Promise<Map<string, Usage>> {
    return new Map(trees.map(({ id, rootPid }) => [id, usageOfProcesses([rootPid])]));
  }

  async spawn(request: SandboxRequest): Promise<SandboxProcess & { main: Promise<{ pid: number; start: string }> }> {
    this.requests.push(request);
    const [program = '', ...args] = request.argv;
    const child = spawn(program, args, {
      cwd: request.cwd,
      env: { ...request.env },
      stdio: request.stdio,
      detached: true,
      ...(this.#uid !== undefined && { uid: this.#uid, gid: this.#uid }),
    });
    if (child.pid === undefined) await once(child, 'spawn');
    const pid = child.pid ?? 0;
    return { child, rootPid: pid, rootStart: '', main: Promise.resolve({ pid, start: '' }), address: null, door: null };
  }

  prefer(): void {}

  async openDoor(): Promise<void> {}

  behindDoor(): null {
    return null;
  }

  onNoted(): () => void {
    return () => undefined;
  }

  async own(path: string): Promise<void> {
    if (this.#uid === undefined) return;
    await run('chown', ['-hR', `${this.#uid}:${this.#uid}`, '--', path]);
    await run('chmod', ['700', '--', path]);
  }

  async admit(path: string): Promise<void> {
    if (this.#uid === undefined) return;
    await run('chgrp', [`${this.#uid}`, '--', path]);
    await run('chmod', ['750', '--', path]);
  }

  async kill({ rootPid }: Tree, signal: NodeJS.Signals): Promise<void> {
    signalGroup(rootPid, signal);
  }

  async alive({ rootPid }: Tree): Promise<boolean> {
    return signalGroup(rootPid, 0);
  }

  async pids({ rootPid }: Tree): Promise<number[]> {
    return signalGroup(rootPid, 0) ? [rootPid] : [];
  }

  async outOfMemory(): Promise<boolean> {
    return false;
  }

  async exitCode(): Promise<null> {
    return null;
  }

  async release(): Promise<void> {}

  async close(): Promise<void> {}

  async link(): Promise<void> {}

  async networkFault(): Promise<null> {
    return null;
  }

  async mendNetworks(): Promise<void> {}

  linked(): [] {
    return [];
  }

  async forget(tenant: string): Promise<void> {
    this.forgotten.push(tenant);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (pid <= 1) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** True while a process with this pid lives and is no zombie (Linux). */
export async function isRunning(pid: number): Promise<boolean> {
  return readFile(`/proc/${pid}/stat`, 'utf8').then(
    (text) => !/\) Z /.test(text),
    () => false,
  );
}
