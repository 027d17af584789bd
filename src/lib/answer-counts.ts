/** Answers counted by the class of their status and by how long they took, in buckets that are the same everywhere. */

/** Upper ends of the buckets, in milliseconds; one more has all that is longer. */
export const ANSWER_BOUNDS_MS: readonly number[] = [
  1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000,
];

const STATUS_CLASSES = 5;

export interface AnswerCounts {
  /** From 1xx (a switch of protocols) to 5xx. */
  readonly classes: readonly number[];
  /** Per bucket, not summed up. */
  readonly times: readonly number[];
  /** Of all of them together. */
  readonly timeMs: number;
}

export const NO_ANSWERS: AnswerCounts = {
  classes: new Array<number>(STATUS_CLASSES).fill(0),
  times: new Array<number>(ANSWER_BOUNDS_MS.length + 1).fill(0),
  timeMs: 0,
};

export function bucketOf(ms: number): number {
  let at = 0;
  while (at < ANSWER_BOUNDS_MS.length && ms > (ANSWER_BOUNDS_MS[at] ?? 0)) at++;
  return at;
}

export function answersTogether(one: AnswerCounts, other: AnswerCounts): AnswerCounts {
  return combined(one, other, (left, right) => left + right);
}

/** Of two looks at counters; where they have begun anew between them, all that they have counted since. */
export function answersSince(before: AnswerCounts, after: AnswerCounts): AnswerCounts {
  if (after.times.some((count, at) => count < (before.times[at] ?? 0))) return after;
  return combined(after, before, (left, right) => Math.max(0, left - right));
}

export function answersCounted({ times }: AnswerCounts): number {
  return times.reduce((sum, count) => sum + count, 0);
}

/** So many milliseconds or less took this share of the answers, evenly spread within its bucket; 0 where there were none. */
export function quantileMs({ times }: Pick<AnswerCounts, 'times'>, share: number): number {
  let left = times.reduce((sum, count) => sum + count, 0) * share;
  if (left === 0) return 0;
  for (const [at, count] of times.entries()) {
    const from = ANSWER_BOUNDS_MS[at - 1] ?? 0;
    const to = ANSWER_BOUNDS_MS[at];
    // Of the last bucket only its beginning is known.
    if (to === undefined) return from;
    if (left <= count) return from + ((to - from) * left) / count;
    left -= count;
  }
  return 0;
}

function combined(one: AnswerCounts, other: AnswerCounts, by: (left: number, right: number) => number): AnswerCounts {
  const each = (left: readonly number[], right: readonly number[]): number[] =>
    left.map((count, at) => by(count, right[at] ?? 0));
  return {
    classes: each(one.classes, other.classes),
    times: each(one.times, other.times),
    timeMs: by(one.timeMs, other.timeMs),
  };
}
