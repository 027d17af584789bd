import { describe, expect, it } from 'vitest';
import { quantile, summary } from './statistics.ts';

describe('a summary', () => {
  it('has the median between two middle samples, whatever their order', () => {
    expect(summary([30, 10, 20, 40])).toEqual({ n: 4, median: 25, min: 10, max: 40 });
  });

  it('of nothing is refused', () => {
    expect(() => summary([])).toThrow('nothing was measured');
  });
});

describe('a quantile', () => {
  it('lies between its neighbours', () => {
    const samples = Array.from({ length: 101 }, (_, index) => 100 - index);
    expect(quantile(samples, 0.99)).toBeCloseTo(99);
    expect(quantile([1, 2], 0.75)).toBeCloseTo(1.75);
  });
});
