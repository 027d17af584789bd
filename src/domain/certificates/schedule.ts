/** When a certificate is asked for: pure functions of times, and of chance so that not all come at once. */
import type { RenewalWindow } from './authority.ts';
import type { CertificateSummary } from './certificate.ts';
import { type Cause, isOfTheName } from './cause.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Certificates that live shorter are renewed at half of their life. */
const SHORT_LIFE_MS = 10 * DAY_MS;
/** Whatever an authority suggests: so much of the life is left for failures. */
const LEAST_LEFT = 0.15;

interface Life {
  /** ISO 8601. */
  readonly notBefore: string;
  readonly notAfter: string;
}

/** After a failure, whatever an authority says: its limits are per week. */
export const LONGEST_PAUSE_MS = 8 * DAY_MS;

/** Whether it is to be tried. What failed while the clock was ahead is not left until the time that it showed. */
export function isDue({ source, state, nextAttemptAt }: CertificateSummary, now: Date): boolean {
  if (source !== 'authority' || nextAttemptAt === null) return false;
  const aheadMs = Date.parse(nextAttemptAt) - now.getTime();
  return aheadMs <= 0 || (state !== 'issued' && aheadMs > LONGEST_PAUSE_MS);
}

/** From 0 up to 1. */
export type Chance = () => number;

export function renewalByLife({ notBefore, notAfter }: Life, chance: Chance): Date {
  const from = Date.parse(notBefore);
  const life = Date.parse(notAfter) - from;
  const share = life < SHORT_LIFE_MS ? 1 / 2 : 2 / 3;
  return new Date(from + life * (share - 0.05 * chance()));
}

/** A moment in the window, the planned one where that is in it already. */
export function renewalByWindow(planned: Date | null, window: RenewalWindow, life: Life, chance: Chance): Date {
  const [start, end] = [window.start.getTime(), window.end.getTime()];
  const isIn = planned !== null && planned.getTime() >= start && planned.getTime() <= end;
  const chosen = isIn ? planned.getTime() : start + (end - start) * chance();
  const notAfter = Date.parse(life.notAfter);
  return new Date(Math.min(chosen, notAfter - (notAfter - Date.parse(life.notBefore)) * LEAST_LEFT));
}

/**
 * How long to wait after so many failures in a row. What the name's owner has to mend is looked at again within the hour, at no
 * authority's cost; an authority is asked again after 10 minutes at the earliest and 12 hours at the latest.
 */
export function pauseAfter(failures: number, cause: Cause, chance: Chance): number {
  const [first, longest] = isOfTheName(cause) ? [MINUTE_MS, HOUR_MS] : [10 * MINUTE_MS, 12 * HOUR_MS];
  const pause = Math.min(longest, first * 2 ** Math.min(failures - 1, 20));
  return pause * (0.8 + 0.4 * chance());
}
