import { expect, it } from 'vitest';
import { restartDelayMs } from './restart-delay.ts';

const delays = (isAtBound: boolean): number[] => [1, 2, 3, 4, 5, 6].map((nth) => restartDelayMs(nth, isAtBound));

it('grows to a minute, and sooner for a unit that comes to its bound again and again', () => {
  expect(delays(false)).toEqual([200, 800, 3_200, 12_800, 51_200, 60_000]);
  expect(delays(true)).toEqual([200, 10_000, 40_000, 60_000, 60_000, 60_000]);
});
