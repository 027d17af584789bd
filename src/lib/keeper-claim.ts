/**
 * Of control and the keeper one at a time works on a home. Each writes its pid file before it looks for the other's, so they cannot
 * miss each other; the keeper gives way.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, readPidFile, removePidFile, writePidFile } from './pid-file.ts';

const POLL_MS = 10;
/** A start of a unit that is under way is finished first. */
const END_MS = 15_000;

export interface KeeperFiles {
  readonly control: string;
  readonly keeper: string;
}

/** By control, which has claimed the home: resolves when no keeper is at work any more. */
export async function endKeeper({ keeper }: KeeperFiles): Promise<void> {
  const record = await readPidFile(keeper);
  if (record === null || record.start === '') return;
  send(record.pid, 'SIGTERM');
  const deadline = performance.now() + END_MS;
  while (await isRunning(record)) {
    if (performance.now() > deadline) send(record.pid, 'SIGKILL');
    await delay(POLL_MS);
  }
  await removePidFile(keeper);
}

/** By the keeper; false when control, or another keeper, is there. */
export async function becomeKeeper({ control, keeper }: KeeperFiles): Promise<boolean> {
  const other = await readPidFile(keeper);
  if (other !== null && other.pid !== process.pid && (await isRunning(other))) return false;
  await writePidFile(keeper);
  return !(await isControlThere({ control, keeper }));
}

export async function isControlThere({ control }: KeeperFiles): Promise<boolean> {
  const record = await readPidFile(control);
  return record !== null && isRunning(record);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
