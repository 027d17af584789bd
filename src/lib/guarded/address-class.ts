/** What kind of address one is: the table behind "which addresses are called". */
import { addressBytes, bytesOf, embeddedIPv4, samePrefix } from './ip-address.ts';

/** From harmless to never called. */
const ADDRESS_CLASSES = ['public', 'private', 'loopback', 'never'] as const;
type AddressClass = (typeof ADDRESS_CLASSES)[number];

export interface AddressKind {
  readonly class: AddressClass;
  /** For people: "a link-local address". */
  readonly words: string;
}

const METADATA: AddressKind = { class: 'never', words: 'an address of cloud metadata' };
const LINK_LOCAL: AddressKind = { class: 'never', words: 'a link-local address' };
const MULTICAST: AddressKind = { class: 'never', words: 'a multicast address' };
const UNSPECIFIED: AddressKind = { class: 'never', words: 'an unspecified address' };
const RESERVED: AddressKind = { class: 'never', words: 'a reserved address' };
const LOOPBACK: AddressKind = { class: 'loopback', words: 'a loopback address' };
const PRIVATE: AddressKind = { class: 'private', words: 'a private address' };
const SPECIAL: AddressKind = { class: 'private', words: 'an address of a special-purpose range' };
const PUBLIC: AddressKind = { class: 'public', words: 'a public address' };

/** The first that matches counts. IPv6 outside 2000::/3 that is not listed is reserved. */
const RANGES: readonly (readonly [network: Uint8Array, bits: number, kind: AddressKind])[] = (
  [
    ['169.254.0.0', 16, LINK_LOCAL],
    ['100.100.100.200', 32, METADATA],
    ['168.63.129.16', 32, METADATA],
    ['192.0.0.192', 32, METADATA],
    ['fd00:ec2::', 32, METADATA],
    ['fd20:ce::254', 128, METADATA],
    ['fd00:c1::a9fe:a9fe', 128, METADATA],
    ['0.0.0.0', 8, UNSPECIFIED],
    ['127.0.0.0', 8, LOOPBACK],
    ['10.0.0.0', 8, PRIVATE],
    ['172.16.0.0', 12, PRIVATE],
    ['192.168.0.0', 16, PRIVATE],
    ['100.64.0.0', 10, SPECIAL],
    ['192.0.0.0', 24, SPECIAL],
    ['192.0.2.0', 24, SPECIAL],
    ['192.88.99.0', 24, SPECIAL],
    ['198.18.0.0', 15, SPECIAL],
    ['198.51.100.0', 24, SPECIAL],
    ['203.0.113.0', 24, SPECIAL],
    ['224.0.0.0', 4, MULTICAST],
    ['240.0.0.0', 4, RESERVED],
    ['::', 128, UNSPECIFIED],
    ['::1', 128, LOOPBACK],
    ['fe80::', 10, LINK_LOCAL],
    ['fec0::', 10, PRIVATE],
    ['fc00::', 7, PRIVATE],
    ['ff00::', 8, MULTICAST],
    ['64:ff9b::', 96, PUBLIC],
    ['64:ff9b:1::', 48, PUBLIC],
    ['::ffff:0:0', 96, PUBLIC],
    ['::ffff:0:0:0', 96, PUBLIC],
    ['::', 96, PUBLIC],
    ['2001:db8::', 32, SPECIAL],
    ['3fff::', 20, SPECIAL],
    ['2001:2::', 48, SPECIAL],
    ['2000::', 3, PUBLIC],
    ['::', 0, RESERVED],
    ['0.0.0.0', 0, PUBLIC],
  ] as const
).map(([network, bits, kind]) => [bytesOf(network), bits, kind]);

/** Of an IPv6 address that carries an IPv4 one the worse of both. Text that is no address is never called. */
export function addressKindOf(address: string): AddressKind {
  const bytes = addressBytes(address);
  if (bytes === null) return RESERVED;
  // ::1 and :: look like IPv4-compatible addresses and are none.
  const itself = rangeOf(bytes);
  const carried = itself.class === 'public' ? embeddedIPv4(bytes).map(rangeOf) : [];
  return [itself, ...carried].reduce((worst, kind) => (rank(kind) > rank(worst) ? kind : worst));
}

function rangeOf(bytes: Uint8Array): AddressKind {
  return RANGES.find(([network, bits]) => samePrefix(bytes, network, bits))?.[2] ?? RESERVED;
}

function rank(kind: AddressKind): number {
  return ADDRESS_CLASSES.indexOf(kind.class);
}
