/** One control process per home: a pid file that also recognises a pid that was given to somebody else since. */
import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, looksLikeServer, type PidRecord, readPidFile, removePidFile, writePidFile } from './pid-file.ts';

/** Looking and writing take milliseconds: a turn this old was left by a process that died in the middle of it. */
const TURN_EXPIRES_MS = 5_000;
const TURN_POLL_MS = 10;

/** Thrown when another control serves this home. */
export class HomeTaken extends Error {
  override readonly name = 'HomeTaken';
  readonly hint = 'To stop it: tancho server stop. To run a second one: give it another TANCHO_HOME.';
  readonly pid: number;

  constructor(pid: number) {
    super(`Another tancho server (pid ${pid}) already serves this home.`);
    this.pid = pid;
  }
}

/** Resolves with the function that gives the home back. Of many that claim it at once, one gets it. */
export async function claimHome(pidFile: string): Promise<() => Promise<void>> {
  const endTurn = await takeTurn(`${pidFile}.turn`);
  try {
    const holder = await readPidFile(pidFile);
    if (holder !== null && holder.pid !== process.pid && (await isHolding(holder))) throw new HomeTaken(holder.pid);
    await writePidFile(pidFile);
  } finally {
    await endTurn();
  }
  return () => release(pidFile);
}

interface TakenHome {
  readonly release: () => Promise<void>;
  /** To the one it was taken from. */
  readonly giveBack: () => Promise<void>;
}

/** As claimHome(), also from one that holds it: that one gives way, and finds out by reclaimHome(). */
export async function takeHome(pidFile: string): Promise<TakenHome> {
  const endTurn = await takeTurn(`${pidFile}.turn`);
  try {
    const holder = await readPidFile(pidFile);
    await writePidFile(pidFile);
    const giveBack = (): Promise<void> => (holder === null ? release(pidFile) : writePidFile(pidFile, holder.pid));
    return { release: () => release(pidFile), giveBack };
  } finally {
    await endTurn();
  }
}

/** For one that has held the home: claims it once more, where nobody has given it up since. False: it is, or will be, somebody else's. */
export async function reclaimHome(pidFile: string): Promise<boolean> {
  if ((await readPidFile(pidFile)) === null) return false;
  try {
    await claimHome(pidFile);
    return true;
  } catch (error) {
    if (error instanceof HomeTaken) return false;
    throw error;
  }
}

/** Whether another process that runs holds the home now. */
async function isTakenFromHere(pidFile: string): Promise<boolean> {
  const holder = await readPidFile(pidFile);
  return holder !== null && holder.pid !== process.pid && (await isHolding(holder));
}

/** Whoever has taken it keeps it. */
async function release(pidFile: string): Promise<void> {
  if (!(await isTakenFromHere(pidFile))) await removePidFile(pidFile);
}

/** With its start time a pid file proves itself; without, as after a crash between writing the two, the process must look like a server. */
async function isHolding(holder: PidRecord): Promise<boolean> {
  return (await isRunning(holder)) && (holder.start !== '' || (await looksLikeServer(holder.pid)));
}

/** Between looking who holds the home and writing oneself down nobody else may do the same. */
async function takeTurn(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > TURN_EXPIRES_MS) await rm(path, { force: true });
    else await delay(TURN_POLL_MS);
  }
}
