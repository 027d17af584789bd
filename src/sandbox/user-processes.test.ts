import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../test/support/skips.ts';
import { isAlive, readProcess, SANDBOX_MARK } from '../lib/processes.ts';
import { endProcessesOf } from './user-processes.ts';

/** Of nobody on a common machine, nor of an app. */
const [ONE, OTHER] = [69_991, 69_992];

async function sleeper(uid: number, env: Record<string, string> = {}): Promise<{ pid: number; start: string }> {
  // In a session of its own.
  const child = spawn('/bin/sleep', ['1000'], { uid, gid: uid, env, detached: true, stdio: 'ignore', cwd: '/' });
  await once(child, 'spawn');
  child.unref();
  return { pid: child.pid ?? 0, start: readProcess(child.pid ?? 0)?.start ?? '' };
}

it(
  'ends all that a user runs and nothing of another user or scope, and says what is left',
  skipFor(NOT_ROOT),
  async () => {
    const sleepers = [
      await sleeper(ONE),
      await sleeper(ONE, { [SANDBOX_MARK]: 'mine-1' }),
      await sleeper(ONE, { [SANDBOX_MARK]: 'theirs-1' }),
      await sleeper(OTHER),
    ];
    try {
      expect(await endProcessesOf(ONE, 'mine')).toBe(false);
      expect(sleepers.map(({ pid, start }) => isAlive(pid, start))).toEqual([false, false, true, true]);
    } finally {
      expect(await endProcessesOf(ONE, 'theirs')).toBe(true);
      expect(await endProcessesOf(ONE, 'mine')).toBe(true);
      expect(await endProcessesOf(OTHER, 'mine')).toBe(true);
    }
  },
);

it('never ends what the platform runs', async () => {
  await expect(endProcessesOf(process.getuid?.() ?? 0, 'mine')).rejects.toThrow('not ended');
});
