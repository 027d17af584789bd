import { mib } from './limits.ts';

/** Reported soon, then less often. */
const FIRST_MS = 1_000;
const MOST_MS = 10_000;

/** To be called with the number of bytes that have come. */
export function progressOf(name: string, size: number, line: (text: string) => void): (bytes: number) => void {
  let reportedAt = Date.now();
  let pauseMs = FIRST_MS;
  return (bytes) => {
    if (Date.now() - reportedAt < pauseMs) return;
    reportedAt = Date.now();
    pauseMs = Math.min(pauseMs * 1.5, MOST_MS);
    line(`${name}: ${mib(bytes)} of ${mib(size)}`);
  };
}
