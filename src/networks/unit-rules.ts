/**
 * Pure: the packet filter inside a unit's network. What listens on its loopback only is found by the platform, what it expects on the machine's
 * loopback is found by the unit, and its direct link to the machine is for answers only. Requests are translated packet by packet, so that the kernel
 * keeps no table of connections for them, in memory that no control group is charged for, and no packet passes its hooks; only a unit that reaches
 * the machine's loopback has such a table, and in it these connections only.
 */
import { type AddressPlan, DIRECT_LINK, UNIT_LINK } from './address-plan.ts';
import { chain, whole } from './nft-text.ts';
import { MOST_FLOWS, REFUSED, TABLE } from './rules.ts';

/** Connections to `from`, a loopback address, go to the machine's own loopback by way of `standIn`. */
export interface Forward {
  readonly from: string;
  readonly standIn: string;
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
}

/** What kernels may lack. */
interface FilterFeatures {
  /** Looking for the socket of a packet: without it all requests go to the unit's loopback. */
  readonly sockets: boolean;
  /** Counting connections: without it those to the machine's loopback have no limit. */
  readonly counts: boolean;
}

/** Best first. */
export const FILTER_FEATURES: readonly FilterFeatures[] = [
  { sockets: true, counts: true },
  { sockets: false, counts: true },
  { sockets: true, counts: false },
  { sockets: false, counts: false },
];

const LOOPBACK = '127.0.0.0/8';
/** What does not begin a connection. */
const ANSWERS = 'tcp flags & (syn | ack) != syn';

export function unitRules(
  { machineAddress, directAddress }: AddressPlan,
  address: string,
  forwards: readonly Forward[],
  { sockets, counts }: FilterFeatures,
): string {
  const isForwarding = forwards.length > 0;
  const standIns = [...new Set(forwards.map(({ standIn }) => standIn))].join(', ');
  // A program may bind its socket to the direct link.
  const forwarded = forwards.map(
    ({ from, protocol, port }) => `oifname != "${DIRECT_LINK}" ip daddr ${from} ${protocol} dport ${port} accept`,
  );
  const request = `ip saddr { ${machineAddress}, ${directAddress} } ip daddr ${address} meta l4proto tcp`;
  return whole(TABLE, [
    chain('arriving', [
      'type filter hook prerouting priority raw',
      ...(isForwarding ? [`ip saddr { ${standIns} } accept`, 'notrack'] : []),
      // Whatever the value: only where there is a socket has it one. What listens on the unit's address, or on all, is found as it is.
      ...(sockets ? [`${request} socket transparent { 0, 1 } accept`] : []),
      `${request} ip daddr set 127.0.0.1`,
    ]),
    chain('leaving', [
      'type filter hook output priority raw',
      ...(isForwarding ? [...forwarded, 'notrack'] : []),
      `ip saddr ${LOOPBACK} ip daddr { ${machineAddress}, ${directAddress} } ${ANSWERS} ip saddr set ${address}`,
      `oifname != "${DIRECT_LINK}" accept`,
      `ip daddr ${directAddress} ${ANSWERS} accept`,
      REFUSED,
    ]),
    ...(isForwarding ? forwardChains(forwards, counts) : []),
  ]);
}

function forwardChains(forwards: readonly Forward[], counts: boolean): string[] {
  const limited = chain('limited', [
    'type filter hook output priority filter',
    `ct state new ct count over ${MOST_FLOWS} ${REFUSED}`,
  ]);
  return [
    chain('output', [
      'type nat hook output priority -100',
      ...forwards.map(
        ({ from, standIn, protocol, port }) => `ip daddr ${from} ${protocol} dport ${port} dnat to ${standIn}`,
      ),
    ]),
    chain('postrouting', [
      'type nat hook postrouting priority srcnat',
      `oifname "${UNIT_LINK}" ip saddr ${LOOPBACK} masquerade`,
    ]),
    ...(counts ? [limited] : []),
  ];
}
