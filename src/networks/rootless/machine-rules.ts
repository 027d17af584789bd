/**
 * Pure: the packet filter of a home's own machine, which is between the gateway and pasta. Nobody but pasta and the platform's tools is in
 * it, so callers from it are not distinguished.
 */
import { addressAt, type AddressPlan, OUTSIDE } from '../address-plan.ts';
import { chain, whole } from '../nft-text.ts';
import { type HomeRules, REFUSED } from '../rules.ts';

/** Connections to a door reach one port of one unit. */
export interface UnitDoor {
  readonly door: number;
  readonly address: string;
  readonly port: number;
}

/** The one address of the machine's loopback that pasta reaches. */
const LOOPBACK = '127.0.0.1';
const DNS = 53;

/** `wayOut`: pasta's link. */
export function ownMachineRules(
  plan: AddressPlan,
  home: HomeRules,
  doors: readonly UnitDoor[],
  wayOut: string,
): string {
  const { machineLink: link, machineAddress, range, table } = plan;
  const host = addressAt(plan, OUTSIDE.host);
  const translated = [...home.standIns].flatMap(([standIn, address]) =>
    address === LOOPBACK
      ? [`iifname "${link}" ip daddr ${standIn} dnat to ${host}`]
      : // Of another loopback address pasta knows the name server only, older ones by UDP.
        [`iifname "${link}" ip daddr ${standIn} udp dport ${DNS} dnat to ${host}`],
  );
  const mapped = doors.map(({ door, address, port }) => `${door} : ${address} . ${port}`);
  return whole(table, [
    [
      '  map doors {',
      '    type inet_service : ipv4_addr . inet_service',
      ...(mapped.length === 0 ? [] : [`    elements = { ${mapped.join(', ')} }`]),
      '  }',
    ].join('\n'),
    chain('prerouting', ['type nat hook prerouting priority dstnat', ...translated]),
    chain('output', ['type nat hook output priority -100', 'dnat ip to tcp dport map @doors']),
    chain('postrouting', [
      'type nat hook postrouting priority srcnat',
      `oifname "${link}" ct status dnat snat to ${machineAddress}`,
      `ip saddr ${range} oifname "${wayOut}" masquerade`,
    ]),
    chain('input', [
      'type filter hook input priority filter',
      // Pasta sends segments without a flag, which are of no connection; the answer to them would be a reset.
      'ct state invalid drop',
      `iifname "${link}" ct state established,related accept`,
      `iifname "${link}" ${REFUSED}`,
    ]),
    chain('forward', [
      'type filter hook forward priority filter; policy drop',
      'ct state established,related accept',
      `iifname "${link}" oifname "${wayOut}" ct status dnat accept`,
      `iifname "${link}" oifname "${wayOut}" ip daddr != ${range} accept`,
      REFUSED,
    ]),
  ]);
}
