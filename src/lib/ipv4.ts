/** Pure: IPv4 addresses as numbers, and networks written as CIDR. */

interface Block {
  /** First address, as an unsigned number. */
  readonly first: number;
  readonly last: number;
}

/** Text that is no dotted address gives NaN. */
export function toNumber(address: string): number {
  const parts = address.split('.').map(Number);
  return parts.length === 4 ? parts.reduce((sum, part) => sum * 256 + part, 0) : Number.NaN;
}

export function toText(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}

/** `10.0.0.0/8`, or one address. Null for what is no IPv4 network. */
export function blockOf(cidr: string): Block | null {
  const match = /^(\d{1,3}(?:\.\d{1,3}){3})(?:\/(\d{1,2}))?$/.exec(cidr);
  const number = toNumber(match?.[1] ?? '');
  const bits = Number(match?.[2] ?? 32);
  if (Number.isNaN(number) || bits > 32) return null;
  const size = 2 ** (32 - bits);
  const first = Math.floor(number / size) * size;
  return { first, last: first + size - 1 };
}

export function overlaps(one: Block, other: Block): boolean {
  return one.first <= other.last && other.first <= one.last;
}
