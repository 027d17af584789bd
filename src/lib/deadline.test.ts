import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { atMost, deadline, DeadlineExceeded, inTime } from './deadline.ts';

const never = new Promise<never>(() => {});
const late = (): Error => new Error('too late');

it('atMost() waits for work, but not for ever', async () => {
  await atMost(60_000, Promise.resolve());
  await atMost(1, never);
  await expect(atMost(60_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
});

it('inTime() gives what work gives, or fails', async () => {
  expect(await inTime(60_000, Promise.resolve(7), late)).toBe(7);
  await expect(inTime(1, never, late)).rejects.toThrow('too late');
  await expect(inTime(60_000, Promise.reject(new Error('failed')), late)).rejects.toThrow('failed');
});

it('work that fails after its time is nobody else’s business', async () => {
  let fail = (_error: Error): void => {};
  const work = new Promise<never>((_, reject) => (fail = reject));
  await expect(inTime(1, work, late)).rejects.toThrow('too late');
  fail(new Error('unheard'));
  await new Promise((resolve) => setImmediate(resolve));
});

it('a deadline fires also when nothing but its signal is left of it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const fired = new Promise<unknown>((resolve) => {
    const { signal } = deadline(50, new AbortController().signal);
    signal.addEventListener('abort', () => resolve(signal.reason));
  });
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(await fired).toBeInstanceOf(DeadlineExceeded);
});

it('a deadline fires when the caller gives up, and not after it was cleared', async () => {
  const caller = new AbortController();
  const [one, other] = [deadline(60_000, caller.signal), deadline(60_000, caller.signal)];
  other.clear();
  caller.abort('enough');
  expect([one.signal.reason, other.signal.aborted]).toEqual(['enough', false]);
  one.clear();
  expect(deadline(0, caller.signal).signal.reason).toBe('enough');
});
