/**
 * One who moves the state of a home (`tancho migrate`) at a time, and no server meanwhile: each of the two writes its pid file before it looks for that of the
 * other, so they cannot miss each other, and the server gives way. Whoever stands in for control does so meanwhile.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { claimHome } from './home-claim.ts';
import { isRunning, readPidFile } from './pid-file.ts';

const POLL_MS = 50;

/** Thrown by a server that starts meanwhile. */
export class StateMoves extends Error {
  override readonly name = 'StateMoves';

  constructor(pid: number) {
    super(`The state of this server is being moved (tancho migrate, process ${pid}).`);
  }
}

/** Resolves with what ends it. Throws HomeTaken when somebody else is at it. */
export async function claimMove(home: string): Promise<() => Promise<void>> {
  await mkdir(join(home, 'run'), { recursive: true, mode: 0o711 });
  return claimHome(fileOf(home));
}

/** Process that is at it now. Of a home that cannot be read nobody is; whoever opens it says what is wrong with it. */
export async function mover(home: string): Promise<number | null> {
  const record = await readPidFile(fileOf(home)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR' || error.code === 'EACCES') return null;
    throw error;
  });
  return record !== null && (await isRunning(record)) ? record.pid : null;
}

/** Resolves when nobody is at it, however it has ended; `onWait` is called once where somebody is. */
export async function movesNoMore(home: string, onWait: (pid: number) => void): Promise<void> {
  for (let isAnnounced = false; ; isAnnounced = true) {
    const pid = await mover(home);
    if (pid === null) return;
    if (!isAnnounced) onWait(pid);
    await delay(POLL_MS);
  }
}

function fileOf(home: string): string {
  return join(home, 'run', 'move.pid');
}
