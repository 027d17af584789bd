import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { childEnd } from './child-end.ts';
import type { SandboxProcess } from './sandbox.ts';

function started(script: string): SandboxProcess {
  const child = spawn('/bin/sh', ['-c', script], { stdio: 'ignore' });
  const rootPid = child.pid ?? 0;
  return {
    child,
    rootPid,
    rootStart: '',
    main: Promise.resolve({ pid: rootPid, start: '' }),
    address: null,
    door: null,
  };
}

const killing = { kill: async ({ rootPid }: { rootPid: number }) => void process.kill(rootPid, 'SIGKILL') };

it('says how a process ended, also one that had ended before', async () => {
  const process = started('exit 3');
  expect(await childEnd(killing, process, 'a').ended).toEqual({ code: 3, signal: null });
  expect(await childEnd(killing, process, 'a').ended).toEqual({ code: 3, signal: null });
});

it('ends it', async () => {
  const { ended, end } = childEnd(killing, started('sleep 1000'), 'a');
  end();
  expect(await ended).toEqual({ code: null, signal: 'SIGKILL' });
});

it('fails for whoever waits, and for nobody else, when it cannot be ended', async () => {
  const process = started('sleep 1000');
  const { ended, end } = childEnd({ kill: () => Promise.reject(new Error('it survives')) }, process, 'a');
  end();
  await new Promise((resolve) => setImmediate(resolve));
  await expect(ended).rejects.toThrow('it survives');
  process.child.kill('SIGKILL');
  await new Promise((resolve) => process.child.once('exit', resolve));
});
