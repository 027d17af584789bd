/** Numbers, sizes and times as people read them. */

const ZERO_YEAR = '0001-';

/** `3 minutes ago`; '' for no time at all. */
export function ago(iso: string, now: number = Date.now()): string {
  if (iso === '' || iso.startsWith(ZERO_YEAR)) return '';
  const seconds = Math.round((now - Date.parse(iso)) / 1_000);
  if (Number.isNaN(seconds)) return '';
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${seconds} seconds ago`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return plural(minutes, 'minute') + ' ago';
  const hours = Math.round(minutes / 60);
  if (hours < 36) return plural(hours, 'hour') + ' ago';
  return plural(Math.round(hours / 24), 'day') + ' ago';
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

/** Of nanoseconds, as deploys are measured. */
export function duration(nanoseconds: number): string {
  const seconds = nanoseconds / 1e9;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** In the viewer's own time zone, down to the second. */
export function exact(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? iso
    : date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}
