/**
 * Of control and the keeper one at a time works on a home. Each writes its pid file before it looks for the other's, so they cannot
 * miss each other; the keeper gives way.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { claimHome, HomeTaken } from './home-claim.ts';
import { isRunning, readPidFile, removePidFile } from './pid-file.ts';

const POLL_MS = 10;
/** A start of a unit that is under way is finished first. */
const END_MS = 15_000;

interface KeeperFiles {
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

/** By the keeper; false when control, or another keeper, is there. Of several at once one becomes it. */
export async function becomeKeeper(files: KeeperFiles): Promise<boolean> {
  try {
    await claimHome(files.keeper);
  } catch (error) {
    if (error instanceof HomeTaken) return false;
    throw error;
  }
  if (!(await isControlThere(files))) return true;
  await leaveKeeper(files);
  return false;
}

/** By the keeper: the file of another one stays. */
export async function leaveKeeper({ keeper }: KeeperFiles): Promise<void> {
  if ((await readPidFile(keeper))?.pid === process.pid) await removePidFile(keeper);
}

export async function isControlThere({ control }: Pick<KeeperFiles, 'control'>): Promise<boolean> {
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
