import { expect, it } from 'vitest';
import { duration } from './format.ts';

it.each([
  [0.04, '0.0 s'],
  [9.94, '9.9 s'],
  [9.96, '10 s'],
  [89.4, '89 s'],
  [119.6, '2 min 0 s'],
  [125, '2 min 5 s'],
])('%d seconds of a deploy are %s', (seconds, text) => {
  expect(duration(seconds * 1e9)).toBe(text);
});
