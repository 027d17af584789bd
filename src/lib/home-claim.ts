/** One control process per home: a pid file that also recognises a pid that was given to somebody else since. */
import { rm } from 'node:fs/promises';
import { isRunning, readPidFile, writePidFile } from './pid-file.ts';

/** Thrown when another control serves this home. */
export class HomeTaken extends Error {
  override readonly name = 'HomeTaken';
  readonly pid: number;

  constructor(pid: number) {
    super(`Another tancho server (pid ${pid}) already serves this home.`);
    this.pid = pid;
  }
}

/** Resolves with the function that gives the home back. */
export async function claimHome(pidFile: string): Promise<() => Promise<void>> {
  const holder = await readPidFile(pidFile);
  if (holder !== null && holder.pid !== process.pid && (await isRunning(holder))) throw new HomeTaken(holder.pid);
  await writePidFile(pidFile);
  return () => rm(pidFile, { force: true });
}
