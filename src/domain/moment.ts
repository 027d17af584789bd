/** Moments as readers of logs and events write them: RFC 3339, or how long ago. */
import { PlatformError } from './errors.ts';

const AGO = /^(\d{1,9})(s|m|h|d)$/;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A zone is demanded: whose local time it would be otherwise is not known. */
const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** ISO 8601 UTC with milliseconds. Throws `input.invalid`; `name` is that of the parameter. */
export function moment(name: string, text: string, now: Date): string {
  const ago = AGO.exec(text);
  const time =
    ago !== null
      ? now.getTime() - Number(ago[1]) * (UNIT_MS[ago[2] ?? ''] ?? 0)
      : RFC_3339.test(text)
        ? Date.parse(text.replace(' ', 'T').toUpperCase())
        : Number.NaN;
  // Nothing was logged before 1970. Both forms end before the year 10000, so what comes of them sorts as text.
  if (!Number.isNaN(time)) return new Date(Math.max(0, time)).toISOString();
  throw new PlatformError('input.invalid', `Parameter "${name}" is no moment.`, {
    hint: `Send ${name}=10m (also s, h, d: so long ago), or a time as RFC 3339: ${name}=2026-03-04T05:06:07Z`,
  });
}
