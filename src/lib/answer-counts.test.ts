import { expect, it } from 'vitest';
import {
  ANSWER_BOUNDS_MS,
  type AnswerCounts,
  answersCounted,
  answersSince,
  answersTogether,
  bucketOf,
  NO_ANSWERS,
  quantileMs,
} from './answer-counts.ts';

function counts(...ms: readonly number[]): AnswerCounts {
  const times = [...NO_ANSWERS.times];
  for (const one of ms) times[bucketOf(one)] = (times[bucketOf(one)] ?? 0) + 1;
  return { classes: [0, ms.length, 0, 0, 0], times, timeMs: ms.reduce((sum, one) => sum + one, 0) };
}

it('puts a time into the first bucket whose end it does not exceed', () => {
  expect([0, 1, 1.01, 2.5, 30_000, 30_001].map(bucketOf)).toEqual([0, 0, 1, 1, 13, 14]);
});

it('adds up, and says what was counted between two looks', () => {
  const [one, other] = [counts(3, 40), counts(7)];
  const both = answersTogether(one, other);
  expect([answersCounted(both), both.timeMs, both.classes[1]]).toEqual([3, 50, 3]);
  expect(answersSince(one, both)).toEqual(other);
});

it('counts all of a counter that has begun anew', () => {
  expect(answersSince(counts(3, 3, 900), counts(7))).toEqual(counts(7));
});

it('computes quantiles from the buckets', () => {
  expect(quantileMs(NO_ANSWERS, 0.5)).toBe(0);
  const even = counts(...Array.from({ length: 100 }, (_, n) => (n < 50 ? 0.5 : n < 95 ? 60 : 700)));
  expect(quantileMs(even, 0.5)).toBe(1);
  expect(quantileMs(even, 0.95)).toBe(100);
  expect(quantileMs(even, 0.99)).toBe(900);
  expect(quantileMs(counts(90_000), 0.5)).toBe(ANSWER_BOUNDS_MS.at(-1));
});
