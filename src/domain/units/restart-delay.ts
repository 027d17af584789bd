const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 60_000;
/** A unit that lived this long is forgiven its earlier deaths. */
export const FORGIVEN_AFTER_MS = 60_000;

/** How long a unit waits before it is started again after so many deaths and failed starts in a row. */
export function restartDelayMs(failures: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 4 ** (failures - 1));
}
