/** Makes and removes the namespaces and links of a home. Decides nothing: who gets which network is in networks.ts. */
import { existsSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type AddressPlan,
  DIRECT_LINK,
  directTable,
  LINK_PREFIX,
  namespacePath,
  UNIT_LINK,
  type UnitPlace,
  UPLINK,
} from './address-plan.ts';
import type { KernelRoute } from './range-claims.ts';
import { anew } from './nft-text.ts';
import { flowRules, hasFlowRules, withoutMachineRules } from './rules.ts';
import { FILTER_FEATURES, type Forward, unitRules } from './unit-rules.ts';
import { runTool } from '../lib/tools/run-tool.ts';

/** Absolute paths. */
export interface NetworkTools {
  readonly ip: string;
  readonly nft: string;
  readonly nsenter: string;
  readonly tee: string;
}

const SETTINGS = '/proc/sys/net';
const LINKS = '/sys/class/net';
/** Of the rules about direct links, before that of the main table (32766). */
const DIRECT_PREFERENCE = 20_000;
const DIRECT_RULES = 2;
/** Of the two ends of each link of a unit, on which there is nobody else; locally administered. */
const NEAR_MAC = '02:00:00:00:00:01';
const UNIT_MAC = '02:00:00:00:00:02';

/** A machine of a home's own, in which everything is made that root makes on the real one. */
interface MachineView {
  /** Where its files are seen from here. */
  readonly root: string;
  /** What is put before a command to run it there, in the network at a path, in the machine's for null. */
  inside(network: string | null): string[];
}

export class Namespaces {
  readonly tools: NetworkTools;
  readonly #machine: MachineView | null;

  constructor(tools: NetworkTools, machine: MachineView | null = null) {
    this.tools = tools;
    this.#machine = machine;
  }

  async routes(): Promise<KernelRoute[]> {
    const argv = [...this.#inside(null), this.tools.ip, '-json', '-4', 'route', 'show', 'table', 'all'];
    return JSON.parse(await runTool(argv)) as KernelRoute[];
  }

  /** Whether the home's gateway is there as a whole: the route to its range, whichever that is, is made last. */
  hasGateway({ gateway, machineLink, range }: AddressPlan, routes: readonly KernelRoute[]): boolean {
    const size = range.slice(range.indexOf('/'));
    return this.#exists(gateway) && routes.some(({ dev, dst = '' }) => dev === machineLink && dst.endsWith(size));
  }

  async makeGateway(plan: AddressPlan): Promise<void> {
    const { gateway, machineLink, machineAddress, gatewayAddress, range, standIns } = plan;
    await runTool([...this.#inside(null), this.tools.ip, 'netns', 'add', gateway]);
    await this.#set(gateway, '1', ['ipv6/conf/all/disable_ipv6', 'ipv6/conf/default/disable_ipv6', 'ipv4/ip_forward']);
    await this.#batch(null, [
      `link add ${machineLink} type veth peer name ${UPLINK} netns ${gateway}`,
      `addr add ${machineAddress}/32 dev ${machineLink}`,
    ]);
    await this.#setLink(machineLink);
    await this.#batch(null, [
      `link set ${machineLink} up`,
      `route add ${gatewayAddress} dev ${machineLink} src ${machineAddress}`,
    ]);
    await this.#batch(gateway, [
      'link set lo up',
      `addr add ${gatewayAddress}/32 dev ${UPLINK}`,
      `link set ${UPLINK} up`,
      `route add ${machineAddress} dev ${UPLINK}`,
      `route add default via ${machineAddress}`,
      // What goes to a unit that is gone, for the filter to refuse: a route that is unreachable refuses a few packets a second only.
      `route add ${range} dev lo`,
      `route add ${standIns} via ${machineAddress}`,
    ]);
    await this.#batch(null, [`route add ${range} via ${gatewayAddress} dev ${machineLink} src ${machineAddress}`]);
  }

  /** Everything of a home; what is not there is passed over. */
  async removeHome(scope: string): Promise<void> {
    const gateway = `tancho-${scope}`;
    for (const name of this.#names()) {
      if (name.startsWith(`${gateway}-`)) await this.unname(name);
    }
    await this.unname(gateway);
    for (const link of namesIn(LINKS)) if (link.startsWith(`${LINK_PREFIX}${scope}`)) await this.#removeLink(link);
    for (let rule = 0; rule < DIRECT_RULES; rule += 1) {
      const argv = [this.tools.ip, 'rule', 'del', 'lookup', `${directTable(scope)}`];
      await runTool(argv).catch(passIf(/No such/));
    }
    await runTool([this.tools.nft, '-f', '-'], withoutMachineRules(`tancho_${scope}`));
  }

  /**
   * A network with a link to the gateway and one to the machine, and nobody in it. Its neighbour entries are set, not resolved: the kernel keeps
   * only so many resolved ones for the whole machine (gc_thresh3, 1024), and with more units than half of that no packet would find its way,
   * those of others neither.
   */
  async makeUnit(plan: AddressPlan, place: UnitPlace, forwards: readonly Forward[]): Promise<void> {
    const { namespace, address, link } = place;
    await this.#batch(plan.gateway, [
      `netns add ${namespace}`,
      `link add ${link} address ${NEAR_MAC} type veth peer name ${UNIT_LINK} address ${UNIT_MAC} netns ${namespace}`,
      `link set ${link} up`,
      `neigh add ${address} lladdr ${UNIT_MAC} nud permanent dev ${link}`,
      `route add ${address} dev ${link} src ${plan.gatewayAddress}`,
    ]);
    const settings = this.#set(namespace, '1', [
      'ipv6/conf/all/disable_ipv6',
      'ipv6/conf/default/disable_ipv6',
      'ipv4/conf/all/route_localnet',
      // From the first port on.
      'ipv4/ip_unprivileged_port_start',
    ]);
    await Promise.all([settings, this.#addDirectLink(place)]);
    const addresses = this.#batch(namespace, [
      'link set lo up',
      `addr add ${address}/32 dev ${UNIT_LINK}`,
      `link set ${UNIT_LINK} up`,
      `neigh add ${plan.gatewayAddress} lladdr ${NEAR_MAC} nud permanent dev ${UNIT_LINK}`,
      `route add ${plan.gatewayAddress} dev ${UNIT_LINK}`,
      `route add default via ${plan.gatewayAddress} src ${address}`,
      ...this.#directRoute(plan, address),
    ]);
    await Promise.all([addresses, this.#openDirectLink(plan, place), this.filterUnit(plan, place, forwards)]);
  }

  /** What the kernel does not have is done without. */
  async filterUnit(plan: AddressPlan, place: UnitPlace, forwards: readonly Forward[]): Promise<void> {
    const { namespace, address } = place;
    let failure: unknown;
    for (const features of FILTER_FEATURES) {
      try {
        return await this.filter(namespace, unitRules(plan, address, forwards, features));
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  }

  /** Not where the machine is one of the home's own, in which nobody but pasta would use it. */
  async #addDirectLink({ namespace, direct }: UnitPlace): Promise<void> {
    if (this.#machine !== null) return;
    await this.#batch(null, [
      `link add ${direct} address ${NEAR_MAC} type veth peer name ${DIRECT_LINK} address ${UNIT_MAC} netns ${namespace}`,
    ]);
    setHere(direct, '1', ['ipv6/conf/LINK/disable_ipv6']);
    setHere(direct, '0', ['ipv4/conf/LINK/forwarding']);
  }

  async #openDirectLink(
    { directAddress, directTable: table }: AddressPlan,
    { address, direct }: UnitPlace,
  ): Promise<void> {
    if (this.#machine !== null) return;
    await this.#batch(null, [
      `link set ${direct} up`,
      `neigh add ${address} lladdr ${UNIT_MAC} nud permanent dev ${direct}`,
      `route add ${address} dev ${direct} src ${directAddress} table ${table}`,
    ]);
  }

  /** The unit's side. */
  #directRoute({ directAddress }: AddressPlan, address: string): string[] {
    if (this.#machine !== null) return [];
    return [
      `link set ${DIRECT_LINK} up`,
      `neigh add ${directAddress} lladdr ${NEAR_MAC} nud permanent dev ${DIRECT_LINK}`,
      `route add ${directAddress} dev ${DIRECT_LINK} src ${address}`,
    ];
  }

  /**
   * Connections of the machine's own to units go by direct links. All else goes by the gateway, as before: answers to what a unit has begun take the
   * way that the gateway knows of. Servers of before have made nothing of it.
   */
  async routeDirectly({ machineLink, directAddress, directTable: table, range }: AddressPlan): Promise<void> {
    if (this.#machine !== null) return;
    const address = this.#batch(null, [`addr replace ${directAddress}/32 dev ${machineLink}`]);
    // Before a connection has a source, and from then on.
    const rules = ['0.0.0.0/32 ipproto tcp', directAddress].map((from) => {
      const rule = `rule add pref ${DIRECT_PREFERENCE} from ${from} to ${range} iif lo lookup ${table}`;
      return this.#batch(null, [rule]).catch(passIf(/File exists/));
    });
    await Promise.all([address, ...rules]);
  }

  /** Without these rules connections go by the gateway. */
  async isRoutedDirectly({ directTable: table }: AddressPlan): Promise<boolean> {
    if (this.#machine !== null) return true;
    const rules = await runTool([this.tools.ip, 'rule', 'list', 'table', `${table}`]);
    return rules.split('\n').filter((line) => line.includes('lookup')).length === DIRECT_RULES;
  }

  /** Also cuts off whoever is still inside. What is not there is passed over. */
  async removeUnit(plan: AddressPlan, place: Pick<UnitPlace, 'namespace' | 'link' | 'direct'>): Promise<void> {
    const { namespace, link, direct } = place;
    const there = this.#exists(plan.gateway)
      ? this.#batch(plan.gateway, [`link del ${link}`]).catch(passIf(/Cannot find device|No such/))
      : null;
    await Promise.all([there, this.#machine === null ? this.#removeLink(direct) : null]);
    await this.unname(namespace);
  }

  /** The kernel removes it with the other end, too, in its own time. */
  async #removeLink(link: string): Promise<void> {
    const isThere = (): boolean => existsSync(join(LINKS, link));
    if (isThere()) await runTool([this.tools.ip, 'link', 'del', link]).catch(passUnless(isThere));
  }

  /** Null: there is none of that name. */
  inodeOf(namespace: string): number | null {
    try {
      return statSync(this.#path(namespace)).ino;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** Gives nft rules to a namespace, to the machine's own for null. */
  async filter(namespace: string | null, rules: string): Promise<void> {
    await runTool([...this.#inside(namespace), this.tools.nft, '-f', '-'], rules);
  }

  /** As filter(), for rules that keep what of their table is there. Where that is another one, of another version of this program, it is made anew. */
  async renew(namespace: string, rules: string): Promise<void> {
    await this.filter(namespace, rules).catch(() => this.filter(namespace, anew(rules)));
  }

  /** Of one that is there already they are left as they are: they count. A kernel that cannot count so has its networks all the same. */
  async limitFlows({ gateway }: AddressPlan): Promise<void> {
    const tables = await runTool([...this.#inside(gateway), this.tools.nft, 'list', 'tables', 'ip']);
    if (!hasFlowRules(tables)) await this.filter(gateway, flowRules()).catch(() => undefined);
  }

  /** A table of the machine as nft prints it; null when it is not there. */
  async machineRules(table: string): Promise<string | null> {
    const printed = await runTool([...this.#inside(null), this.tools.nft, 'list', 'tables', 'ip']);
    if (!printed.split('\n').some((line) => line.trim() === `table ip ${table}`)) return null;
    return runTool([...this.#inside(null), this.tools.nft, '--stateless', 'list', 'table', 'ip', table]);
  }

  /** Namespaces of the home's units. */
  unitNamespaces(plan: AddressPlan): string[] {
    return this.#names().filter((name) => name.startsWith(`${plan.gateway}-`));
  }

  /** Inodes of the namespaces that any process is in. */
  inhabited(): ReadonlySet<number> {
    return new Set(allNetworks().map(({ inode }) => inode));
  }

  /** Processes in the namespaces with these inodes. */
  inhabitants(inodes: ReadonlySet<number>): number[] {
    return allNetworks().flatMap(({ pid, inode }) => (inodes.has(inode) ? [pid] : []));
  }

  /**
   * It lives on by those who are in it. Each name is a mount, and whoever starts a process with a view of its own reads all mounts of the machine again
   * and again.
   */
  async unname(name: string): Promise<void> {
    if (!this.#exists(name)) return;
    const argv = [...this.#inside(null), this.tools.ip, 'netns', 'del', name];
    await runTool(argv).catch(passUnless(() => this.#exists(name)));
  }

  async #batch(namespace: string | null, lines: readonly string[]): Promise<void> {
    // With -n it would copy all mounts of the machine.
    await runTool([...this.#inside(namespace), this.tools.ip, '-batch', '-'], `${lines.join('\n')}\n`);
  }

  async #set(namespace: string, value: string, names: readonly string[]): Promise<void> {
    const paths = names.map((name) => join(SETTINGS, name)).filter((path) => existsSync(dirname(path)));
    await runTool([...this.#inside(namespace), this.tools.tee, ...paths], value);
  }

  async #setLink(link: string): Promise<void> {
    const names = ['ipv6/conf/LINK/disable_ipv6', 'ipv4/conf/LINK/route_localnet', 'ipv4/conf/LINK/forwarding'];
    if (this.#machine === null) return setHere(link, '1', names);
    // Its links are not seen from here; the kernel has IPv6 for all networks or for none.
    const there = names.filter((name) => existsSync(join(SETTINGS, name.replace('LINK', 'default'))));
    const paths = [...there.map((name) => name.replace('LINK', link)), 'ipv4/ip_forward'];
    const argv = [this.tools.tee, ...paths.map((path) => join(SETTINGS, path))];
    await runTool([...this.#inside(null), ...argv], '1');
  }

  #inside(namespace: string | null): string[] {
    if (this.#machine !== null) return this.#machine.inside(namespace === null ? null : this.#path(namespace));
    return namespace === null ? [] : [this.tools.nsenter, `--net=${namespacePath(namespace)}`, '--'];
  }

  #path(namespace: string): string {
    return `${this.#machine?.root ?? ''}${namespacePath(namespace)}`;
  }

  #exists(namespace: string): boolean {
    return existsSync(this.#path(namespace));
  }

  #names(): string[] {
    return namesIn(dirname(this.#path('any')));
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Settings of a link of the machine; those that the kernel does not have are passed over. */
function setHere(link: string, value: string, names: readonly string[]): void {
  const paths = names.map((name) => join(SETTINGS, name.replace('LINK', link)));
  for (const path of paths) if (existsSync(path)) writeFileSync(path, value);
}

interface InNetwork {
  readonly pid: number;
  readonly inode: number;
}

function allNetworks(): InNetwork[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? networkOf(name) : []));
}

function networkOf(pid: string): InNetwork[] {
  try {
    const inode = /^net:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/ns/net`))?.[1];
    return inode === undefined ? [] : [{ pid: Number(pid), inode: Number(inode) }];
  } catch {
    return [];
  }
}

function passIf(pattern: RegExp): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof Error && pattern.test(error.message))) throw error;
  };
}

function passUnless(isLeft: () => boolean): (error: unknown) => void {
  return (error) => {
    if (isLeft()) throw error;
  };
}
