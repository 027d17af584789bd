/** Times and durations as existing clients parse them. */

/** No time: never, or not known. */
export const ZERO_DATE = '0001-01-01T00:00:00Z';

export function nanoseconds(ms: number): number {
  return Math.round(ms * 1_000_000);
}
