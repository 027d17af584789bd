import { expect, it } from 'vitest';
import { sparkline, squeezed } from './sparkline.ts';

it('draws numbers between 0 and the greatest', () => {
  expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█');
  expect(sparkline([0, 0])).toBe('▁▁');
  expect(sparkline([5, 5])).toBe('██');
  expect(sparkline([])).toBe('');
});

it('makes one column of neighbours where there are too many', () => {
  expect(squeezed([1, 2, 3, 4, 5], 2, 'sum')).toEqual([6, 9]);
  expect(squeezed([1, 2, 3, 4, 5], 2, 'mean')).toEqual([2, 4.5]);
  expect(squeezed([1, 2], 40, 'sum')).toEqual([1, 2]);
  expect(squeezed([], 40, 'mean')).toEqual([]);
});
