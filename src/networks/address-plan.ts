/** Pure: which names and addresses the networks of one home have. Everything is derived from the home's scope and its range. */
import { join } from 'node:path';
import { toNumber, toText } from '../lib/ipv4.ts';

/** Addresses of one home. */
export const RANGE_SIZE = 4096;
const RANGE_BITS = 20;
/** Where the kernel's tools keep namespaces by name. */
const NAMESPACES = '/run/netns';
/** Those below stand for addresses of the machine's loopback. */
const FIRST_UNIT = 64;
/** From here on they stand for tenants that others reach. */
const FIRST_LINKED = 3840;
const FIRST_STAND_IN = 3;
const DIRECT = FIRST_UNIT - 1;
const INDEX_DIGITS = 3;

/** Links of every home begin so on the machine. */
export const LINK_PREFIX = 'tnc-';
/** The unit's own ends of its links to the gateway and to the machine, and the gateway's end of the link to the machine. */
export const UNIT_LINK = 'eth0';
export const DIRECT_LINK = 'edge0';
export const UPLINK = 'host0';

export interface AddressPlan {
  /** 8 hexadecimal digits. */
  readonly scope: string;
  readonly range: string;
  /** Its addresses below those of units, which the machine has. */
  readonly standIns: string;
  /** The gateway's namespace, and how those of single units begin. */
  readonly gateway: string;
  /** The machine's end of the link to the gateway. */
  readonly machineLink: string;
  readonly machineAddress: string;
  readonly gatewayAddress: string;
  /** The machine's on its direct links to units. */
  readonly directAddress: string;
  /** Number of the routing table that has these links. */
  readonly directTable: number;
  /** nft table on the machine. */
  readonly table: string;
  /** Before the paths of namespaces, where the machine is one of the home's own. */
  readonly root: string;
}

/** `base`: the first address of the range. */
export function addressPlan(scope: string, base: string, root = ''): AddressPlan {
  const first = toNumber(base);
  return {
    scope,
    root,
    range: `${base}/${RANGE_BITS}`,
    standIns: `${base}/${32 - Math.log2(FIRST_UNIT)}`,
    gateway: `tancho-${scope}`,
    machineLink: `${LINK_PREFIX}${scope}`,
    machineAddress: toText(first + 1),
    gatewayAddress: toText(first + 2),
    directAddress: toText(first + DIRECT),
    directTable: directTable(scope),
    table: `tancho_${scope}`,
  };
}

/** Beyond those that systems number themselves. */
export function directTable(scope: string): number {
  return 2 ** 31 + (Number.parseInt(scope, 16) % 2 ** 31);
}

export interface UnitPlace {
  /** One of UNIT_INDEXES. */
  readonly index: number;
  readonly namespace: string;
  readonly path: string;
  readonly address: string;
  /** The gateway's end of the unit's link. */
  readonly link: string;
  /** The machine's end of a link without the gateway between, for connections from the machine; as long as the kernel has names of links (15). */
  readonly direct: string;
}

export const UNIT_INDEXES = { from: FIRST_UNIT, to: FIRST_LINKED - 1 } as const;
export const LINKED = { from: FIRST_LINKED, to: RANGE_SIZE - 2 } as const;
/** Where the home has a machine of its own: its own address outside, and the one by which it reaches the loopback of the real one. */
export const OUTSIDE = { bits: 30, host: 61, own: 62 } as const;
export const STAND_INS = { from: FIRST_STAND_IN, to: OUTSIDE.host - 2 } as const;
/** Ports at which units of such a home are reached, one for each network that it has at most. */
export const DOORS = { from: 16_000, to: 17_023 } as const;
export const DOOR_INDEXES = { from: FIRST_UNIT, to: FIRST_UNIT + DOORS.to - DOORS.from } as const;

export function unitPlace(plan: AddressPlan, index: number): UnitPlace {
  const namespace = `${plan.gateway}-${index}`;
  return {
    index,
    namespace,
    path: `${plan.root}${namespacePath(namespace)}`,
    address: addressAt(plan, index),
    link: `u${index}`,
    direct: `${plan.machineLink}${index.toString(16).padStart(INDEX_DIGITS, '0')}`,
  };
}

export function namespacePath(name: string): string {
  return join(NAMESPACES, name);
}

/** Of a network, by its index. */
export function doorAt(index: number): number {
  return DOORS.from + index - DOOR_INDEXES.from;
}

export function addressAt(plan: Pick<AddressPlan, 'range'>, index: number): string {
  return toText(toNumber(plan.range.replace(/\/.*$/, '')) + index);
}
