/** Numbers, sizes and times as people read them. */

const ZERO_YEAR = '0001-';

/** `3 minutes ago`, `in 2 hours`; '' for no time at all. */
export function ago(iso: string, now: number = Date.now()): string {
  if (iso === '' || iso.startsWith(ZERO_YEAR)) return '';
  const seconds = Math.round((now - Date.parse(iso)) / 1_000);
  if (Number.isNaN(seconds)) return '';
  // The clocks of servers and browsers differ a little.
  if (seconds < -30) return `in ${span(-seconds)}`;
  return seconds < 5 ? 'just now' : `${span(seconds)} ago`;
}

/** `3 minutes`, `2 days`: of seconds, rounded. */
export function span(seconds: number): string {
  if (seconds < 60) return plural(seconds, 'second');
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return plural(minutes, 'minute');
  const hours = Math.round(minutes / 60);
  return hours < 36 ? plural(hours, 'hour') : plural(Math.round(hours / 24), 'day');
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** Two or three of them: `0.25`, `3.1`, `42`. */
export function digits(value: number): string {
  return value.toFixed(value >= 10 || value === 0 ? 0 : value >= 1 ? 1 : 2);
}

export function milliseconds(value: number): string {
  return value < 1_000 ? `${digits(value)} ms` : `${digits(value / 1_000)} s`;
}

/** `4.2 s`, `42 s`, `2 min 5 s`: of nanoseconds, as deploys are measured. */
export function duration(nanoseconds: number): string {
  const tenths = Math.round(nanoseconds / 1e8);
  if (tenths < 100) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(nanoseconds / 1e9);
  return seconds < 90 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' },
});

/** `13:04:05.678` in the viewer's own time zone; '' for no time at all. */
export function clock(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? '' : CLOCK.format(at);
}

/** In the viewer's own time zone, down to the second. */
export function exact(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}
