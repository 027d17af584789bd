import { expect, it } from 'vitest';
import { Waiters } from './waiters.ts';

it('wakes all who wait, and whoever has given up', async () => {
  const waiters = new Waiters();
  const [stop, other] = [new AbortController(), new AbortController()];
  const woken: string[] = [];
  const first = waiters.next(stop.signal).then(() => woken.push('first'));
  const second = waiters.next(other.signal).then(() => woken.push('second'));
  stop.abort();
  await first;
  expect(woken).toEqual(['first']);
  waiters.wake();
  await second;
  expect(woken).toEqual(['first', 'second']);
  await waiters.next(stop.signal);
});
