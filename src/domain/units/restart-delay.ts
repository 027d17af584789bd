const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 60_000;
/** Of a unit that has come to its bound of memory or disk: to take that again costs all others more than what any other end costs them. */
const FIRST_DELAY_AT_BOUND_MS = 10_000;
const GROWTH = 4;
/** A unit that lived this long is forgiven its earlier deaths. */
export const FORGIVEN_AFTER_MS = 60_000;

/**
 * How long a unit waits before it is started again after so many deaths and failed starts in a row. `isAtBound`: the last of them was for the memory or
 * the disk that it has taken, which counts from the second in a row on.
 */
export function restartDelayMs(failures: number, isAtBound = false): number {
  const usual = FIRST_DELAY_MS * GROWTH ** (failures - 1);
  const atBound = isAtBound && failures > 1 ? FIRST_DELAY_AT_BOUND_MS * GROWTH ** (failures - 2) : 0;
  return Math.min(LONGEST_DELAY_MS, Math.max(usual, atBound));
}
