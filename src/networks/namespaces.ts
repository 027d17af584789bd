/** Makes and removes the namespaces and links of a home. Decides nothing: who gets which network is in networks.ts. */
import { existsSync, readdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AddressPlan, LINK_PREFIX, namespacePath, UNIT_LINK, type UnitPlace, UPLINK } from './address-plan.ts';
import type { KernelRoute } from './range-claims.ts';
import { flowRules, hasFlowRules, withoutMachineRules } from './rules.ts';
import { runTool } from '../lib/tools/run-tool.ts';

/** Absolute paths. */
export interface NetworkTools {
  readonly ip: string;
  readonly nft: string;
  readonly nsenter: string;
  readonly tee: string;
}

const SETTINGS = '/proc/sys/net';
/** Of the two ends of each unit's link, on which there is nobody else; locally administered. */
const GATEWAY_MAC = '02:00:00:00:00:01';
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
    const link = `${LINK_PREFIX}${scope}`;
    if (existsSync(`/sys/class/net/${link}`)) {
      // The kernel removes it with the other end, in its own time.
      await runTool([this.tools.ip, 'link', 'del', link]).catch(passUnless(() => existsSync(`/sys/class/net/${link}`)));
    }
    await runTool([this.tools.nft, '-f', '-'], withoutMachineRules(`tancho_${scope}`));
  }

  /**
   * A network with a link to the gateway, and nobody in it. Its neighbour entries are set, not resolved: the kernel keeps only so many resolved
   * ones for the whole machine (gc_thresh3, 1024), and with more units than half of that no packet would find its way, those of others neither.
   */
  async makeUnit(plan: AddressPlan, place: UnitPlace, rules: string): Promise<void> {
    const { namespace, address, link } = place;
    await this.#batch(plan.gateway, [
      `netns add ${namespace}`,
      `link add ${link} address ${GATEWAY_MAC} type veth peer name ${UNIT_LINK} address ${UNIT_MAC} netns ${namespace}`,
      `link set ${link} up`,
      `neigh add ${address} lladdr ${UNIT_MAC} nud permanent dev ${link}`,
      `route add ${address} dev ${link} src ${plan.gatewayAddress}`,
    ]);
    await this.#set(namespace, '1', [
      'ipv6/conf/all/disable_ipv6',
      'ipv6/conf/default/disable_ipv6',
      'ipv4/conf/all/route_localnet',
      // From the first port on.
      'ipv4/ip_unprivileged_port_start',
    ]);
    const addresses = this.#batch(namespace, [
      'link set lo up',
      `addr add ${address}/32 dev ${UNIT_LINK}`,
      `link set ${UNIT_LINK} up`,
      `neigh add ${plan.gatewayAddress} lladdr ${GATEWAY_MAC} nud permanent dev ${UNIT_LINK}`,
      `route add ${plan.gatewayAddress} dev ${UNIT_LINK}`,
      `route add default via ${plan.gatewayAddress} src ${address}`,
    ]);
    await Promise.all([addresses, this.filter(namespace, rules)]);
  }

  /** Also cuts off whoever is still inside. What is not there is passed over. */
  async removeUnit(plan: AddressPlan, { namespace, link }: Pick<UnitPlace, 'namespace' | 'link'>): Promise<void> {
    if (this.#exists(plan.gateway)) {
      await this.#batch(plan.gateway, [`link del ${link}`]).catch(passIf(/Cannot find device|No such/));
    }
    await this.unname(namespace);
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
    const paths = [
      `ipv6/conf/${link}/disable_ipv6`,
      `ipv4/conf/${link}/route_localnet`,
      `ipv4/conf/${link}/forwarding`,
    ];
    if (this.#machine === null) {
      for (const path of paths.map((name) => join(SETTINGS, name))) if (existsSync(path)) writeFileSync(path, '1');
      return;
    }
    // Its links are not seen from here; the kernel has IPv6 for all networks or for none.
    const there = paths.filter((name) => existsSync(join(SETTINGS, name.replace(link, 'default'))));
    const argv = [this.tools.tee, ...there.map((name) => join(SETTINGS, name)), join(SETTINGS, 'ipv4/ip_forward')];
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
    try {
      return readdirSync(dirname(this.#path('any')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
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
