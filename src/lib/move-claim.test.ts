import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HomeTaken } from './home-claim.ts';
import { claimMove, mover, movesNoMore } from './move-claim.ts';
import { writePidFile } from './pid-file.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'tancho-move-'));
  await mkdir(join(home, 'run'));
});
afterEach(() => rm(home, { recursive: true }));

it('is held until it is given back', async () => {
  await movesNoMore(home, () => expect.unreachable());
  const end = await claimMove(home);
  expect(await mover(home)).toBe(process.pid);
  const reported: number[] = [];
  const over = movesNoMore(home, (pid) => void reported.push(pid));
  await end();
  await over;
  expect(await mover(home)).toBeNull();
  expect([[], [process.pid]]).toContainEqual(reported);
});

it('belongs to one process, and ends with it', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await once(other, 'spawn');
  await writePidFile(join(home, 'run', 'move.pid'), other.pid);
  await expect(claimMove(home)).rejects.toThrow(HomeTaken);
  const reported: number[] = [];
  const over = movesNoMore(home, (pid) => {
    reported.push(pid);
    other.kill('SIGKILL');
  });
  await over;
  expect(reported).toEqual([other.pid]);
  await (
    await claimMove(home)
  )();
});
