import { expect, it } from 'vitest';
import { OutputRate } from './output-rate.ts';

it('is high of many lines, of much text, and of little that takes long, each within a second', () => {
  const line = { text: 'x' };
  const rate = new OutputRate();
  expect(
    rate.isHighWith(
      Array.from({ length: 1_500 }, () => line),
      1_000,
      1,
    ),
  ).toBe(false);
  expect(
    rate.isHighWith(
      Array.from({ length: 1_500 }, () => line),
      1_500,
      1,
    ),
  ).toBe(true);
  expect(rate.isHighWith([line], 2_500, 1)).toBe(false);
  expect(rate.isHighWith([{ text: 'x'.repeat(300_000) }], 2_600, 1)).toBe(true);
  expect(rate.isHighWith([line], 9_000, 5_000)).toBe(true);
  expect(rate.isHighWith([line], 12_000, 1)).toBe(false);
});
