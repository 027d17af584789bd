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
    const call = { argv: ['cat', '/proc/self/stat'], input: '', timeoutMs: 60_000 };
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
