/** The header fields by which proxies say whom they speak for: `Forwarded` (RFC 7239), and the older `X-Forwarded-*`. */
import { isIP } from 'node:net';

/** What one proxy says of the side that it received the request from. */
interface ForwardedElement {
  /** As sent: an address, maybe with a port, or a word such as `unknown`; '' when it does not say. */
  readonly for: string;
  readonly proto: string;
  readonly host: string;
}

const PAIR = /[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)")[ \t]*([;,]|$)/y;
/** More proxies than this in a row are none. */
const MAX_ELEMENTS = 32;

/** The elements of a `Forwarded` field, the client's first; none when the field is malformed: half of it says nothing. */
export function parseForwarded(value: string): ForwardedElement[] {
  const elements: ForwardedElement[] = [];
  let pairs: Record<string, string> = {};
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < value.length) {
    const match = PAIR.exec(value);
    if (match === null || elements.length === MAX_ELEMENTS) return [];
    const [, name = '', token, quoted = '', end] = match;
    pairs[name.toLowerCase()] = token ?? quoted.replaceAll(/\\(.)/g, '$1');
    if (end === ';') continue;
    elements.push({ for: pairs['for'] ?? '', proto: pairs['proto'] ?? '', host: pairs['host'] ?? '' });
    pairs = {};
  }
  return elements;
}

/** The members of a comma-separated field; none when there are too many. */
export function fieldMembers(value: string): string[] {
  if (value === '') return [];
  if (!value.includes(',')) return [value.trim()];
  const members = value.split(',', MAX_ELEMENTS + 1).map((member) => member.trim());
  return members.length > MAX_ELEMENTS ? [] : members;
}

/** `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711` -> the address; null for what is none. */
export function nodeAddress(node: string): string | null {
  if (isIP(node) !== 0) return plainAddress(node);
  const [, ipv6, ipv4] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/.exec(node) ?? [];
  const address = ipv6 ?? ipv4 ?? '';
  return isIP(address) === (ipv6 === undefined ? 4 : 6) ? plainAddress(address) : null;
}

/** An IPv4 address as such also where a socket for both families got it; without a zone. */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address;
  return address.replace(/^::ffff:(?=[0-9.]+$)/i, '').replace(/%.*$/, '');
}

/** An address as `for=` takes it. */
export function forwardedNode(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address;
}
