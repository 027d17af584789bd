/** Finding the processes of this home's server: by the pid files in run/, never by name alone. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, looksLikeServer, type PidRecord, readPidFile } from '../../lib/pid-file.ts';
import type { CliContext } from '../context.ts';
import { CliError } from '../errors.ts';

/** `ports`: who keeps those of control while that is away. */
type Part = 'control' | 'edge' | 'keeper' | 'ports';

/** The running process of that part of this home's server; null when there is none. */
export async function findPart({ home }: CliContext, part: Part): Promise<PidRecord | null> {
  const path = join(home, 'run', `${part}.pid`);
  let record: PidRecord | null;
  try {
    record = await readPidFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new CliError(`${path} cannot be read (${code}).`, 'Are you the owner of this home? See TANCHO_HOME.');
  }
  if (record === null || !(await isRunning(record))) return null;
  // With its start time the file proves itself; without, the process must look like ours.
  return record.start !== '' || (await looksLikeServer(record.pid)) ? record : null;
}

/** Polls until the process is gone; false when the deadline has come first. */
export async function waitUntilGone(record: PidRecord, deadlineMs: number): Promise<boolean> {
  const deadline = Date.now() + deadlineMs;
  while (await isRunning(record)) {
    if (Date.now() >= deadline) return false;
    await delay(50);
  }
  return true;
}

/** False when the process had gone before the signal could reach it. */
export function signalPart(record: PidRecord, part: Part, signal: NodeJS.Signals): boolean {
  try {
    process.kill(record.pid, signal);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    throw new CliError(
      `The ${part} process ${record.pid} belongs to another user.`,
      `Stop it as that user, or as root: kill ${record.pid}`,
      { cause: error },
    );
  }
}
