/**
 * Pure: the packet filter inside a unit's network. What listens on its loopback only is found by the platform, what it expects on the machine's
 * loopback is found by the unit, and its direct link to the machine is for answers only. The kernel keeps a table of connections for what is
 * translated so, in memory that no control group is charged for; everything else stays out of it.
 */
import { type AddressPlan, DIRECT_LINK, UNIT_LINK } from './address-plan.ts';
import { chain, whole } from './nft-text.ts';
import { FLOWS_TABLE, MOST_FLOWS, REFUSED, TABLE } from './rules.ts';

/** Connections to `from`, a loopback address, go to the machine's own loopback by way of `standIn`. */
export interface Forward {
  readonly from: string;
  readonly standIn: string;
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
}

const UNTRANSLATED_TABLE = 'tancho_untranslated';

/** What does not begin a connection. */
const ANSWERS = 'tcp flags & (syn | ack) != syn';

export function unitRules(plan: AddressPlan, address: string, forwards: readonly Forward[]): string {
  const { machineAddress, directAddress } = plan;
  const outward = forwards.map(
    ({ from, standIn, protocol, port }) => `ip daddr ${from} ${protocol} dport ${port} dnat to ${standIn}`,
  );
  const forwarded = forwards.map(({ from, protocol, port }) => `ip daddr ${from} ${protocol} dport ${port} accept`);
  return whole(TABLE, [
    chain('tracked_in', ['type filter hook prerouting priority raw', `ip saddr != ${plan.standIns} notrack`]),
    chain('tracked_out', [
      'type filter hook output priority raw',
      `ip saddr 127.0.0.0/8 ip daddr { ${machineAddress}, ${directAddress} } ${ANSWERS} accept`,
      ...forwarded,
      'notrack',
    ]),
    chain('answers', [
      'type filter hook output priority filter',
      `oifname != "${DIRECT_LINK}" accept`,
      `ip daddr ${directAddress} ${ANSWERS} accept`,
      REFUSED,
    ]),
    chain('prerouting', [
      'type nat hook prerouting priority dstnat',
      `ip saddr { ${machineAddress}, ${directAddress} } ip daddr ${address} dnat to 127.0.0.1`,
    ]),
    chain('output', ['type nat hook output priority -100', ...outward]),
    chain('postrouting', [
      'type nat hook postrouting priority srcnat',
      `oifname "${UNIT_LINK}" ip saddr 127.0.0.0/8 masquerade`,
    ]),
  ]);
}

/**
 * What listens on the address of its unit, or on all, is found without translation, which every packet would cost. A table of its own, for kernels
 * that look for no sockets do without it.
 */
export function untranslatedRules({ machineAddress, directAddress }: AddressPlan): string {
  return whole(UNTRANSLATED_TABLE, [
    chain('prerouting', [
      'type filter hook prerouting priority raw - 1',
      // Whatever the value: only where there is a socket has it one.
      `ip saddr { ${machineAddress}, ${directAddress} } socket transparent { 0, 1 } notrack`,
    ]),
  ]);
}

/** How much of what is translated a unit may have open. A table of its own, for kernels that cannot count so do without it. */
export function unitFlowRules(): string {
  return whole(FLOWS_TABLE, [
    chain('output', [
      'type filter hook output priority filter - 1',
      `ct state new ct count over ${MOST_FLOWS} ${REFUSED}`,
    ]),
  ]);
}
