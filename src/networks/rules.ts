/**
 * Pure: the packet filter of a home as nft reads it. Two places have rules here: the gateway, through which everything goes that
 * leaves a unit by itself; and the machine, which translates addresses, and takes answers only from its direct links to units. Each unit's own
 * network has some, too (unit-rules.ts).
 */
import { type AddressPlan, UPLINK } from './address-plan.ts';
import { chain, map, NETWORKS, renewed, set, whole } from './nft-text.ts';

/** Of transport protocol and port at one address. */
export interface TransportEndpoint {
  readonly address: string;
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
}

export const PROTOCOLS = ['tcp', 'udp'] as const;

interface UnitRules {
  readonly address: string;
  /** The gateway's end of its link. */
  readonly link: string;
  /** Of nobody who had the address before: what a unit begins is marked with it. */
  readonly since: number;
  /** Units of one tenant reach each other; null: nobody is in it yet. */
  readonly tenant: string | null;
  /** What it reaches beside the internet. */
  readonly endpoints: readonly TransportEndpoint[];
  /** Of that what may be on the machine itself, as its own processes know it. */
  readonly local: readonly TransportEndpoint[];
}

/** A tenant that others reach. */
interface LinkRules {
  readonly tenant: string;
  readonly from: readonly string[];
  /** What they call it by. */
  readonly address: string;
  /** Whoever calls port 80 reaches `port`, all others the port that they call. */
  readonly targets: readonly { readonly address: string; readonly port: number }[];
}

export interface HomeRules {
  readonly units: readonly UnitRules[];
  readonly links: readonly LinkRules[];
  /** CIDR networks that are open to all although they are private. */
  readonly allowed: readonly string[];
  /** Addresses of the machine that are not reached; empty where the machine's own rules see to that. */
  readonly unreached: readonly string[];
  /** The machine's name servers that are not on its loopback. */
  readonly resolvers: readonly string[];
  /** An address of the range -> the loopback address of the machine that it stands for. */
  readonly standIns: ReadonlyMap<string, string>;
  /** Users on the machine whose processes reach units. */
  readonly uids: readonly number[];
}

/** Never reached, whatever is allowed: this machine and network, link-local with metadata, multicast and reserved. */
const NEVER = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'];
/** Cloud metadata beyond link-local addresses. */
const METADATA = ['100.100.100.200', '168.63.129.16', '192.0.0.192'];
const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', '198.18.0.0/15'];

/** In the gateway and in units. */
export const TABLE = 'tancho';
const DNS = 53;
/** Where a linked tenant is called, whatever its units listen on. */
const LINK_PORT = 80;
/** Mark of packets that are sent on from the platform's own address. */
const AS_PLATFORM = 1;

export const REFUSED = 'reject with icmp type admin-prohibited';

/** In the gateway, for what counts. */
const FLOWS_TABLE = 'tancho_flows';
/** Of one address: the kernel has one table of connections for the gateway and one for the machine, and whoever fills them stops all others. */
export const MOST_FLOWS = 8_192;
const NEW_FLOWS = 'over 500/second burst 4000 packets';
const MOST_ADDRESSES = 4_096;

/**
 * How many connections, and calls by UDP, an address may have open through the gateway, and begin. A table of its own, for it counts: the others are
 * replaced at each change.
 */
export function flowRules(): string {
  const counted = (name: string, flags: string): string =>
    [`  set ${name} {`, '    type ipv4_addr', `    size ${MOST_ADDRESSES}`, `    flags ${flags}`, '  }'].join('\n');
  return whole(FLOWS_TABLE, [
    counted('begun', 'dynamic,timeout'),
    counted('open', 'dynamic'),
    chain('forward', [
      'type filter hook forward priority filter - 1; policy accept',
      `iifname "${UPLINK}" accept`,
      'ct state != new accept',
      `update @begun { ip saddr timeout 1m limit rate ${NEW_FLOWS} } ${REFUSED}`,
      `add @open { ip saddr ct count over ${MOST_FLOWS} } ${REFUSED}`,
    ]),
  ]);
}

/** Whether the tables that nft lists have them. */
export function hasFlowRules(tables: string): boolean {
  return tables.split('\n').includes(`table ip ${FLOWS_TABLE}`);
}

export function gatewayRules(plan: AddressPlan, home: HomeRules): string {
  const own = Map.groupBy(
    home.units.filter(({ tenant }) => tenant !== null),
    ({ tenant }) => tenant,
  );
  const chains = new Map([...own.keys()].map((tenant, index) => [tenant, `tenant_${index}`]));
  const services = home.units.flatMap(({ address, endpoints }) => pairs(address, endpoints));
  const jumps = home.units.flatMap(({ address, tenant }) =>
    tenant === null ? [] : [`${address} : jump ${chains.get(tenant)}`],
  );
  const reach = [...chains].map(([tenant, name]) => {
    const linked = home.links.filter(({ from }) => tenant !== null && from.includes(tenant));
    // Not the targets alone: connections to one stay until it ends, and it is no target when it is about to.
    const targets = linked.flatMap(({ tenant: to }) => (own.get(to) ?? []).map(({ address }) => address));
    const accepted = targets.length === 0 ? [] : [`ct status dnat ip daddr { ${unique(targets)} } accept`];
    const addresses = (own.get(tenant) ?? []).map(({ address }) => address);
    return chain(name, [`ip daddr { ${unique(addresses)} } accept`, ...accepted]);
  });
  const resolvers = home.resolvers.flatMap((address) => [`${address} . tcp . ${DNS}`, `${address} . udp . ${DNS}`]);
  return renewed(TABLE, [
    set(
      'owners',
      'ipv4_addr . mark',
      home.units.map(({ address, since }) => `${address} . ${since}`),
    ),
    map(
      'marks',
      'ipv4_addr : mark',
      home.units.map(({ address, since }) => `${address} : ${since}`),
    ),
    set(
      'links',
      'ifname . ipv4_addr',
      home.units.map(({ link, address }) => `"${link}" . ${address}`),
    ),
    set('services', PAIR, services),
    set('resolvers', 'ipv4_addr . inet_proto . inet_service', resolvers),
    set('allowed', 'ipv4_addr', home.allowed, NETWORKS),
    set('never', 'ipv4_addr', [...NEVER, ...METADATA, plan.range, ...home.unreached], NETWORKS),
    set('private', 'ipv4_addr', PRIVATE, NETWORKS),
    ...reach,
    ...linkChains(plan, home.links),
    map('tenants', 'ipv4_addr : verdict', jumps),
    chain('forward', [
      'type filter hook forward priority filter; policy drop',
      // Whoever calls a unit that is gone hears of it at once, and so does who has been connected to it.
      'oifname "lo" meta l4proto tcp reject with tcp reset',
      `oifname "lo" ${REFUSED}`,
      // Answers are for who has asked, not for who has the address since; what asks is judged each time.
      `oifname "${UPLINK}" ip daddr { ${plan.machineAddress}, ${plan.directAddress} } ct direction reply ct state established,related accept`,
      'ct direction reply ct state established,related ip daddr . ct mark @owners accept',
      // The second one only where the machine's rules about direct links were removed under connections by these.
      `iifname "${UPLINK}" ip saddr { ${plan.machineAddress}, ${plan.directAddress} } accept`,
      `iifname "${UPLINK}" drop`,
      'iifname . ip saddr != @links drop',
      'ip saddr vmap @tenants',
      'ip saddr . ip daddr . meta l4proto . th dport @services accept',
      'ip daddr . meta l4proto . th dport @resolvers accept',
      `ip daddr @never ${REFUSED}`,
      `oifname "${UPLINK}" ip daddr @allowed accept`,
      `ip daddr @private ${REFUSED}`,
      `oifname "${UPLINK}" accept`,
    ]),
    chain('begun', [
      'type filter hook postrouting priority filter',
      'ct direction original ct mark set ip saddr map @marks',
    ]),
    chain('input', [
      'type filter hook input priority filter; policy drop',
      'ct state established,related accept',
      REFUSED,
    ]),
  ]);
}

/**
 * Connections to the address of a linked tenant go to its targets in turn. What calls port 80 comes to them from the platform's own
 * address, as requests from outside do: so it also reaches those that listen on their loopback only.
 */
function linkChains(plan: AddressPlan, links: readonly LinkRules[]): string[] {
  const served = links.filter(({ targets }) => targets.length > 0);
  if (served.length === 0) return [];
  const chains = served.flatMap(({ targets }, index) => [
    ...targets.map(({ address, port }, number) =>
      chain(`link_${index}_${number}`, [
        `tcp dport ${LINK_PORT} meta mark set ${AS_PLATFORM} dnat to ${address}:${port}`,
        `dnat to ${address}`,
      ]),
    ),
    chain(`link_${index}`, [
      `numgen inc mod ${targets.length} vmap { ${targets.map((_, number) => `${number} : goto link_${index}_${number}`).join(', ')} }`,
    ]),
  ]);
  const jumps = served.map(({ address }, index) => `${address} : goto link_${index}`).join(', ');
  return [
    ...chains,
    chain('linked', ['type nat hook prerouting priority dstnat', `ip daddr vmap { ${jumps} }`]),
    chain('as_platform', [
      'type nat hook postrouting priority srcnat',
      `meta mark ${AS_PLATFORM} snat to ${plan.machineAddress}`,
    ]),
  ];
}

/** Type of a set of callers and what they reach. */
const PAIR = 'ipv4_addr . ipv4_addr . inet_proto . inet_service';

function pairs(from: string, endpoints: readonly TransportEndpoint[]): string[] {
  return endpoints.map(({ address, protocol, port }) => `${from} . ${address} . ${protocol} . ${port}`);
}

function unique(addresses: readonly string[]): string {
  return [...new Set(addresses)].join(', ');
}

export function machineRules(plan: AddressPlan, home: HomeRules): string {
  const { machineLink: link, range, table } = plan;
  /** That to the gateway, and the direct ones. */
  const links = `${link}*`;
  const translated = [...home.standIns].map(
    ([standIn, address]) => `iifname "${link}" ip daddr ${standIn} dnat to ${address}`,
  );
  return whole(table, [
    set(
      'local',
      PAIR,
      home.units.flatMap(({ address, local }) => pairs(address, local)),
    ),
    chain('prerouting', [
      // Before others who translate the machine's own ports (container engines publish theirs so): what comes to the machine itself is judged as input.
      'type nat hook prerouting priority dstnat - 1',
      ...translated,
      `iifname "${link}" fib daddr type local ip saddr . ip daddr . meta l4proto . th dport != @local redirect`,
    ]),
    chain('postrouting', [
      'type nat hook postrouting priority srcnat',
      `ip saddr ${range} oifname != "${links}" masquerade`,
    ]),
    // What answers on the loopback takes its callers for processes of the machine; many trust or know no others.
    chain('arrival', ['type nat hook input priority 100', `iifname "${link}" ip daddr 127.0.0.0/8 snat to 127.0.0.1`]),
    chain('input', [
      'type filter hook input priority filter',
      // The machine's own packets are the most, and a name costs more than a number.
      'iif "lo" accept',
      `iifname != "${links}" accept`,
      'ct state established,related accept',
      `iifname "${link}" ip saddr . ip daddr . meta l4proto . th dport @local accept`,
      REFUSED,
    ]),
    chain('forward', [
      'type filter hook forward priority filter',
      `oifname "${link}" ct state established,related accept`,
      `oifname "${links}" drop`,
      `iifname "${links}" iifname != "${link}" drop`,
    ]),
    chain('output', [
      'type filter hook output priority filter',
      'oif "lo" accept',
      `oifname "${links}" ct state new meta skuid != { ${home.uids.join(', ')} } ${REFUSED}`,
    ]),
  ]);
}

/** Whether two texts have the same chains with as many rules each: nft prints rules in words of its own. */
export function isSameChains(one: string, other: string): boolean {
  return JSON.stringify(ruleCounts(one)) === JSON.stringify(ruleCounts(other));
}

function ruleCounts(text: string): [name: string, rules: number][] {
  const chains = [...text.matchAll(/^\s*chain (\w+) \{\n([^}]*(?:\{[^}]*\}[^}]*)*?)\n\s*\}$/gm)];
  const counted = chains.map(([, name = '', body = '']): [string, number] => {
    const lines = body.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('type '));
    return [name, lines.length];
  });
  return counted.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** nft text that removes the home's table, also when there is none. */
export function withoutMachineRules(table: string): string {
  return `table ip ${table}\ndelete table ip ${table}\n`;
}
