/** The processes of a user of this machine, found by the user alone: they may have left everything else that shows whose they are. */
import { setTimeout as delay } from 'node:timers/promises';
import { markOf, pidsOfUser, sendSignal } from '../lib/processes.ts';

const KILL_DEADLINE_MS = 20_000;

/**
 * Kills all of them but what bears the mark of another scope, whose tenant may have the same user by chance. False when some are left, those
 * among them: a process can give itself any mark. The user must be nobody's but a tenant's.
 */
export async function endProcessesOf(uid: number, scope: string): Promise<boolean> {
  if (uid === 0 || uid === process.getuid?.()) throw new Error('The processes of the platform itself are not ended.');
  const deadline = Date.now() + KILL_DEADLINE_MS;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const all = pidsOfUser(uid);
    const left = all.filter((pid) => markOf(pid)?.startsWith(`${scope}-`) ?? true);
    if (left.length === 0) return all.length === 0;
    if (Date.now() > deadline) return false;
    for (const pid of left) sendSignal(pid, 'SIGKILL');
    await delay(pause);
  }
}
