import { expect, it } from 'vitest';
import { lookMs, refusalsAfter } from './log-looks.ts';

const after = (...statuses: number[]): number =>
  statuses.reduce((refusals, status) => refusalsAfter({ status }, refusals), 0);

it('a log is asked for ever later while its node does not give it, and soon when only connections were lost', () => {
  const times = Array.from({ length: 8 }, (_, count) => lookMs(after(...new Array<number>(count).fill(500)), 1));
  expect(times).toEqual([2_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(lookMs(after(0, 0, 0, 0, 0, 0, 0), 1)).toBe(2_000);
  expect(lookMs(after(500, 500, 500, 0), 1)).toBe(2_000);
  expect(lookMs(0, 0)).toBe(1_000);
});
