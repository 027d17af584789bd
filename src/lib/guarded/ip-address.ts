/** Text of an IP address -> its bytes, and the IPv4 address that an IPv6 address stands for. */
import { isIPv4, isIPv6 } from 'node:net';

/** 4 or 16 bytes; null for what is no IP address. A zone (`fe80::1%eth0`) is left out. */
export function addressBytes(text: string): Uint8Array | null {
  const address = text.replace(/%.*$/s, '');
  if (isIPv4(address)) return Uint8Array.from(address.split('.'), Number);
  if (!isIPv6(address)) return null;
  const [left = '', right] = address.split('::');
  const head = groups(left);
  const tail = right === undefined ? [] : groups(right);
  const gap = Array.from({ length: 16 - head.length - tail.length }, () => 0);
  return Uint8Array.from([...head, ...gap, ...tail]);
}

/** `2001:db8:192.0.2.1` -> its bytes, two per group and four of a dotted end. */
function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Whether the first `bits` bits of both are the same; addresses of different families never match. */
export function samePrefix(left: Uint8Array, right: Uint8Array, bits: number): boolean {
  if (left.length !== right.length) return false;
  const whole = bits >> 3;
  for (let index = 0; index < whole; index += 1) if (left[index] !== right[index]) return false;
  const rest = bits & 7;
  return rest === 0 || (left[whole] ?? 0) >> (8 - rest) === (right[whole] ?? 0) >> (8 - rest);
}

/** Prefixes behind which an IPv4 address lies, and where it begins. */
const CARRIERS: readonly (readonly [prefix: string, bits: number, at: number])[] = [
  ['::', 96, 12],
  ['::ffff:0:0', 96, 12],
  ['::ffff:0:0:0', 96, 12],
  ['64:ff9b::', 96, 12],
  ['64:ff9b:1::', 48, 12],
  ['2002::', 16, 2],
];
const TEREDO = bytesOf('2001::');
const ISATAP = Uint8Array.from([0x5e, 0xfe]);

/** The IPv4 addresses that packets to this IPv6 address may end at: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP. */
export function embeddedIPv4(address: Uint8Array): Uint8Array[] {
  if (address.length !== 16) return [];
  const found = CARRIERS.filter(([prefix, bits]) => samePrefix(address, bytesOf(prefix), bits)).map(([, , at]) =>
    address.slice(at, at + 4),
  );
  if (samePrefix(address, TEREDO, 32)) {
    // The server's address, and the client's with every bit turned over.
    found.push(
      address.slice(4, 8),
      address.slice(12).map((byte) => byte ^ 0xff),
    );
  }
  if ((address[8] ?? 0) % 4 === 0 && address[9] === 0 && samePrefix(address.slice(10, 12), ISATAP, 16)) {
    found.push(address.slice(12));
  }
  return found;
}

/** For literals in code. */
export function bytesOf(text: string): Uint8Array {
  const bytes = addressBytes(text);
  if (bytes === null) throw new Error(`"${text}" is no IP address`);
  return bytes;
}
