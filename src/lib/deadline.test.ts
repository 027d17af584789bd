import { expect, it } from 'vitest';
import { atMost, inTime } from './deadline.ts';

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
