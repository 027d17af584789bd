const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** A whole number of bytes, also with a unit: `512M`, `10GiB`; null for what is none. */
export function bytesOf(text: string): number | null {
  const [, digits, unit = ''] = /^(\d{1,15})([kmgt]?)(?:i?b)?$/i.exec(text.trim()) ?? [];
  const bytes = digits === undefined ? NaN : Number(digits) * (UNITS[unit.toLowerCase()] ?? NaN);
  return Number.isSafeInteger(bytes) ? bytes : null;
}
