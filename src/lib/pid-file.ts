/**
 * Files that name a running process. Beside the pid they hold the kernel's start time of the process, so that a pid that
 * has been given to another process since is recognised.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';

export interface PidRecord {
  readonly pid: number;
  /** Clock ticks since boot; '' when the file or the system does not say. */
  readonly start: string;
}

/** Names a process, this one by default: `<pid> <start>`. Atomic; replaces what was there. */
export async function writePidFile(path: string, pid: number = process.pid): Promise<void> {
  const fresh = `${path}.${process.pid}`;
  const start = (await processStat(pid))?.start ?? '';
  await writeFile(fresh, `${pid} ${start}\n`, { mode: 0o600 });
  await rename(fresh, path);
}

/** Null when the file is missing or names no process. */
export async function readPidFile(path: string): Promise<PidRecord | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const match = /^\s*([1-9][0-9]{0,9})(?:\s+([0-9]+))?/.exec(text);
  return match === null ? null : { pid: Number(match[1]), start: match[2] ?? '' };
}

/** True while this very process runs; a zombie does not. */
export async function isRunning({ pid, start }: PidRecord): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const stat = await processStat(pid);
  if (stat === null) return process.platform !== 'linux';
  return stat.state !== 'Z' && (start === '' || stat.start === start);
}

async function processStat(pid: number): Promise<{ state: string; start: string } | null> {
  let text: string;
  try {
    text = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // Gone, or a system without /proc.
    return null;
  }
  // The command's name is in parentheses and may hold anything, parentheses too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}
