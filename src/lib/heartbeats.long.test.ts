import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { Heartbeats, isHeld } from './heartbeats.ts';

/** Says something every 50 ms, until a message makes it spin. */
const PROGRAM = `
process.on('message', () => { for (;;); });
setInterval(() => process.send('beat'), 50);
`;

const children: ChildProcess[] = [];
const stuck: number[] = [];
let heartbeats: Heartbeats;

afterEach(async () => {
  for (const child of children.splice(0)) {
    heartbeats.forget(child.pid ?? 0);
    child.kill('SIGKILL');
    if (child.signalCode === null) await once(child, 'exit');
  }
  stuck.length = 0;
});

async function beating(): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.push(child);
  child.on('message', () => heartbeats.beat(child.pid ?? 0));
  await once(child, 'message');
  return child;
}

it('a process whose loop is blocked, or that is stopped, is found; one that beats is not', async () => {
  heartbeats = new Heartbeats({ onStuck: (pid) => stuck.push(pid) });
  const [healthy, spinning, stopped] = [await beating(), await beating(), await beating()];
  spinning.send('spin');
  stopped.kill('SIGSTOP');
  await until(() => stuck.length === 2, { what: 'both to be found' });
  expect(new Set(stuck)).toEqual(new Set([spinning.pid, stopped.pid]));
  expect(stuck).not.toContain(healthy.pid);
});

it('nobody is blamed for the time in which this process stood still', async () => {
  heartbeats = new Heartbeats({ onStuck: (pid) => stuck.push(pid), checkMs: 50, stuckMs: 3_000 });
  await beating();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_500);
  let checks = 0;
  await until(() => ++checks > 5, { what: 'some checks', everyMs: 50 });
  expect(stuck).toEqual([]);
});

it('who waits for the processor is not held, however long; who waits for the disk is after a while, and who waits for nothing at once', () => {
  const [short, long] = [2_000, 3_600_000];
  const held = (...states: string[]) => [isHeld(states, short), isHeld(states, long)];
  expect(held('R')).toEqual([false, false]);
  expect(held('D', 'R', 'S')).toEqual([false, false]);
  expect(held('D', 'S')).toEqual([false, true]);
  expect(held('S', 'S')).toEqual([true, true]);
  expect(held('T')).toEqual([true, true]);
});
