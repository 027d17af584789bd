/**
 * Files that name a running process: the pid and nothing else, so that `kill $(cat file)` is safe. `<file>.start` beside it
 * holds the kernel's start time of that process, so that a pid that has been given to another process since is recognised.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { readProcess } from './processes.ts';

export interface PidRecord {
  readonly pid: number;
  /** Clock ticks since boot; '' when the file or the system does not say. */
  readonly start: string;
}

/** Names a process, this one by default. Atomic; replaces what was there. */
export async function writePidFile(path: string, pid: number = process.pid): Promise<void> {
  const start = readProcess(pid)?.start ?? '';
  await replace(startFile(path), `${pid} ${start}\n`);
  await replace(path, `${pid}\n`);
}

async function replace(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}`;
  try {
    await writeFile(fresh, text, { mode: 0o600 });
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

export async function removePidFile(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(startFile(path), { force: true });
}

/** Null when the file is missing or names no process. */
export async function readPidFile(path: string): Promise<PidRecord | null> {
  const pid = /^\s*([1-9][0-9]{0,9})\s*$/.exec((await textOf(path)) ?? '')?.[1];
  if (pid === undefined) return null;
  const [of, start = ''] = ((await textOf(startFile(path))) ?? '').trim().split(' ');
  return { pid: Number(pid), start: of === pid ? start : '' };
}

function startFile(path: string): string {
  return `${path}.start`;
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** True while this very process runs; a zombie does not. */
export async function isRunning({ pid, start }: PidRecord): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const found = readProcess(pid);
  // Gone meanwhile, or a system without /proc.
  if (found === null) return process.platform !== 'linux';
  return !found.zombie && (start === '' || found.start === start);
}

/** Of a process whose start time nobody has noted: whether it may be a part of a server at all. */
export async function looksLikeServer(pid: number): Promise<boolean> {
  try {
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    return command.some((word) => /tancho|[/\\](main|edge|daemon|start|worker)\.m?[jt]s$/.test(word));
  } catch {
    return process.platform !== 'linux';
  }
}
