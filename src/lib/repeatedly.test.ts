import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { repeatedly } from './repeatedly.ts';

it('works again and again, never twice at once', async () => {
  const running: number[] = [];
  let [now, times] = [0, 0];
  let third = (): void => {};
  const wasThird = new Promise<void>((resolve) => (third = resolve));
  const stop = repeatedly(1, async () => {
    running.push(++now);
    await delay(3);
    now -= 1;
    times += 1;
    if (times === 3) third();
  });
  await wasThird;
  await stop();
  const done = times;
  await delay(10);
  expect([times, new Set(running)]).toEqual([done, new Set([1])]);
});

it('waits for the work that is under way, and asks it to end', async () => {
  let begun = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  let ended = false;
  const stop = repeatedly(1, async (signal) => {
    begun();
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    ended = true;
  });
  await hasBegun;
  await stop();
  expect(ended).toBe(true);
});

it('does nothing when it is stopped before the first time', async () => {
  let times = 0;
  const stop = repeatedly(5, async () => void times++);
  await stop();
  await delay(10);
  expect(times).toBe(0);
});

it('asks for each pause', async () => {
  const asked: number[] = [];
  let done = (): void => {};
  const enough = new Promise<void>((resolve) => (done = resolve));
  const stop = repeatedly(
    () => asked.push(asked.length + 1),
    async () => (asked.length === 3 ? done() : undefined),
  );
  await enough;
  await stop();
  expect(asked.slice(0, 3)).toEqual([1, 2, 3]);
});
