/**
 * Pure: the packet filter inside a unit's network. What listens on its loopback only is found by the platform, what it expects on the machine's
 * loopback is found by the unit, and its direct link to the machine is for answers only.
 */
import { type AddressPlan, DIRECT_LINK, UNIT_LINK } from './address-plan.ts';
import { chain, REFUSED, TABLE, whole } from './rules.ts';

/** Connections to `from`, a loopback address, go to the machine's own loopback by way of `standIn`. */
export interface Forward {
  readonly from: string;
  readonly standIn: string;
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
}

export function unitRules(plan: AddressPlan, address: string, forwards: readonly Forward[]): string {
  const { machineAddress, directAddress } = plan;
  const outward = forwards.map(
    ({ from, standIn, protocol, port }) => `ip daddr ${from} ${protocol} dport ${port} dnat to ${standIn}`,
  );
  return whole(TABLE, [
    chain('answers', [
      'type filter hook output priority filter',
      `oifname != "${DIRECT_LINK}" accept`,
      `ip daddr ${directAddress} tcp flags & (syn | ack) != syn accept`,
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
