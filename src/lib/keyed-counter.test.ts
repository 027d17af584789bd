import { expect, it } from 'vitest';
import { KeyedCounter } from './keyed-counter.ts';

it('counts by key', () => {
  const counter = new KeyedCounter();
  const leave = counter.enter('shop');
  counter.enter('shop');
  counter.enter('blog');
  expect([counter.of('shop'), counter.of('blog'), counter.of('other')]).toEqual([2, 1, 0]);
  leave();
  expect([counter.of('shop'), counter.of('blog')]).toEqual([1, 1]);
});

it('takes each one back once', () => {
  const counter = new KeyedCounter();
  const leave = counter.enter('shop');
  counter.enter('shop');
  leave();
  leave();
  expect(counter.of('shop')).toBe(1);
});
