/** The operator's exceptions: hosts and networks that may be called although they are private. */
import { isIP } from 'node:net';
import { addressBytes, embeddedIPv4, samePrefix } from './ip-address.ts';

interface AllowList {
  readonly hosts: ReadonlySet<string>;
  readonly networks: readonly { readonly bytes: Uint8Array; readonly bits: number }[];
}

const HOST = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** `db.internal`, `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`. Null: none of these. */
export function allowEntry(text: string): { host: string } | { bytes: Uint8Array; bits: number } | null {
  const [name = '', length, more] = text.trim().toLowerCase().replace(/\.$/, '').split('/');
  if (more !== undefined) return null;
  const bytes = isIP(name) === 0 || name.includes('%') ? null : addressBytes(name);
  if (bytes !== null) {
    const most = bytes.length * 8;
    if (length === undefined) return { bytes, bits: most };
    const bits = Number(length);
    return /^[0-9]{1,3}$/.test(length) && bits <= most ? { bytes, bits } : null;
  }
  // What looks like a number is an address that is written wrongly.
  const isHost = length === undefined && HOST.test(name) && !/(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/.test(name);
  return isHost ? { host: name } : null;
}

/** Throws for an entry that is none; the configuration has checked them before. */
export function allowList(entries: readonly string[]): AllowList {
  const hosts = new Set<string>();
  const networks: { bytes: Uint8Array; bits: number }[] = [];
  for (const entry of entries) {
    const parsed = allowEntry(entry);
    if (parsed === null) throw new Error(`"${entry}" is neither a host nor a network`);
    if ('host' in parsed) hosts.add(parsed.host);
    else networks.push(parsed);
  }
  return { hosts, networks };
}

/** An IPv6 address that stands for an IPv4 one is named by that one, too. */
export function isAllowed(list: AllowList, host: string, address: string): boolean {
  if (list.hosts.has(host)) return true;
  const bytes = addressBytes(address);
  if (bytes === null) return false;
  const named = (one: Uint8Array): boolean =>
    list.networks.some((network) => samePrefix(one, network.bytes, network.bits));
  const carried = embeddedIPv4(bytes);
  return named(bytes) || (carried.length > 0 && carried.every(named));
}
