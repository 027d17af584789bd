import { expect, it } from 'vitest';
import { KeyedCounter } from './keyed-counter.ts';

it('counts by key', () => {
  const tally = new KeyedCounter();
  const leave = tally.enter('shop');
  tally.enter('shop');
  tally.enter('blog');
  expect([tally.of('shop'), tally.of('blog'), tally.of('other')]).toEqual([2, 1, 0]);
  leave();
  expect([tally.of('shop'), tally.of('blog')]).toEqual([1, 1]);
});

it('takes each one back once', () => {
  const tally = new KeyedCounter();
  const leave = tally.enter('shop');
  tally.enter('shop');
  leave();
  leave();
  expect(tally.of('shop')).toBe(1);
});
