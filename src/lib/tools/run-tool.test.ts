import { expect, it } from 'vitest';
import { skipFor } from '../../../test/support/skips.ts';
import { runTool } from './run-tool.ts';

/** Who has started it. */
async function parent(): Promise<number> {
  const stat = await runTool(['cat', '/proc/self/stat']);
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

it(
  'many tools at one time are started by a process beside this one',
  skipFor(process.platform !== 'linux' && 'elsewhere every tool is started by this process'),
  async () => {
    expect(await parent()).toBe(process.pid);
    const parents = new Set(await Promise.all(Array.from({ length: 30 }, parent)));
    parents.delete(process.pid);
    expect(parents.size).toBe(1);
    const read = Array.from({ length: 30 }, (_, at) => runTool(['cat'], `input ${at}`));
    expect(await Promise.all(read)).toEqual(Array.from({ length: 30 }, (_, at) => `input ${at}`));
    const failing = Array.from({ length: 30 }, () => runTool(['ls', '/no/such/directory']));
    for (const result of await Promise.allSettled(failing)) {
      expect(String(result.status === 'rejected' && result.reason)).toMatch(/ls .* failed: .*No such file/);
    }
    await expect(runTool(['no-such-tool'])).rejects.toThrow('ENOENT');
  },
);

it('what takes longer than it may is ended', async () => {
  await expect(runTool(['sleep', '1000'], '', 50)).rejects.toThrow('sleep 1000 failed');
});

it('when the process that starts tools is killed, its tools have failed, and the next ones are run all the same', async () => {
  const waiting = Array.from({ length: 20 }, () => runTool(['sleep', '60'], '', 600_000));
  for (const one of waiting) one.catch(() => undefined);
  const host = (await Promise.all(Array.from({ length: 12 }, parent))).find((pid) => pid !== process.pid) ?? 0;
  expect(host).toBeGreaterThan(0);
  process.kill(host, 'SIGKILL');
  await expect(waiting.at(-1)).rejects.toThrow('has ended');
  expect((await Promise.all(Array.from({ length: 12 }, parent))).length).toBe(12);
});
