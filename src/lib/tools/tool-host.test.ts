import { afterEach, expect, it, vi } from 'vitest';
import { skipFor } from '../../../test/support/skips.ts';
import { ToolHost } from './tool-host.ts';

afterEach(() => {
  vi.useRealTimers();
});

it(
  'the end of a process that is no longer needed fails nothing that the next one runs',
  skipFor(process.platform !== 'linux' && 'who has started a tool is seen in /proc'),
  async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const host = new ToolHost();
    const call = { argv: ['cat', '/proc/self/stat'], input: '', timeoutMs: 60_000, path: process.env['PATH'] ?? '' };
    const parent = ({ output }: { output: string }): number =>
      Number(output.slice(output.lastIndexOf(')') + 2).split(' ')[1]);
    const first = parent(await host.run(call));
    // Its time is over; it ends while the next one starts.
    vi.runAllTimers();
    expect(host.isUp).toBe(false);
    const second = parent(await host.run(call));
    expect(second).not.toBe(first);
    vi.runAllTimers();
  },
);

it('a tool is looked for where the one that asks would look for it, also when that has changed since', async () => {
  const host = new ToolHost();
  const call = { argv: ['sh', '-c', 'echo "$PATH"'], input: '', timeoutMs: 60_000 };
  const where = async (path: string): Promise<string> => (await host.run({ ...call, path })).output.trim();
  expect([await where('/usr/bin:/bin'), await where('/bin:/usr/bin')]).toEqual(['/usr/bin:/bin', '/bin:/usr/bin']);
});
