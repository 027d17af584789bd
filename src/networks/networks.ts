/**
 * A network of its own for every sandbox of a home: a namespace with one link to the home's gateway, a namespace too, whose
 * packet filter decides who reaches what. One network is prepared ahead of need, so that a start only enters it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askedTogether } from '../lib/asked-together.ts';
import { addressAt, type AddressPlan, addressPlan, STAND_INS, type UnitPlace, unitPlace } from './address-plan.ts';
import { homeRules } from './home-rules.ts';
import { toNumber } from '../lib/ipv4.ts';
import { Namespaces, type NetworkTools } from './namespaces.ts';
import { type NetworkNote, NetworkNotes } from './network-notes.ts';
import { forward, takeForwardingBack } from './forwarding.ts';
import { claimRange, clearAbandoned, releaseRange, type KernelRoute } from './range-claims.ts';
import { parseResolvers } from './resolvers.ts';
import { type LinkedTenant, TenantLinks } from './tenant-links.ts';
import { type TransportEndpoint, type Forward, gatewayRules, isSameChains, machineRules, unitRules } from './rules.ts';

/** What a sandbox reaches beside the internet and the units of its tenant: an address and a port of it, loopback ones as seen by the machine. */
export interface Service {
  readonly address: string;
  readonly port: number;
}

interface OwnNetwork {
  readonly address: string;
  /** What programs enter it by. */
  readonly path: string;
}

export interface EnteredNetwork extends OwnNetwork {
  /** Resolves when what its tenant reaches is open, too; what everybody reaches is before. */
  readonly opened: Promise<void>;
}

export interface NetworksOptions {
  readonly tools: NetworkTools;
  /** Where the notes are; ours alone. The home is taken for gone when it is not there. */
  readonly stateDir: string;
  /** Of the home; 8 hexadecimal digits. */
  readonly scope: string;
  /** CIDR networks that are open although they are private. */
  readonly allowed: readonly string[];
  /** Reaches units as the user of this process does; null: nobody else does. */
  readonly edgeUser: number | null;
}

const RESOLV_CONF = '/etc/resolv.conf';
const DNS = 53;
const PROTOCOLS = ['tcp', 'udp'] as const;

export class Networks {
  readonly #options: NetworksOptions;
  readonly #namespaces: Namespaces;
  readonly #plan: AddressPlan;
  readonly #notes: NetworkNotes;
  readonly #links: TenantLinks;
  readonly #apply = askedTogether(() => this.#applyRules());
  #prepared: Promise<NetworkNote> | null = null;
  #machineRules = '';
  #areLinksDue = false;

  /** Throws with why when this machine has no such networks. */
  static async open(options: NetworksOptions): Promise<Networks> {
    const { scope, stateDir } = options;
    const namespaces = new Namespaces(options.tools);
    await clearAbandoned((gone) => namespaces.removeHome(gone));
    const named = addressPlan(scope, '0.0.0.0');
    const notes = new NetworkNotes(join(stateDir, 'networks'));
    const routes = await namespaces.routes();
    const hasGateway = namespaces.hasGateway(named, routes);
    if (!hasGateway) {
      await namespaces.removeHome(scope);
      for (const { index } of notes.all()) notes.remove(index);
      releaseRange(scope);
    }
    const plan = addressPlan(scope, claimRange({ scope, stateDir }, routes));
    const networks = new Networks(options, namespaces, plan, notes);
    try {
      if (!hasGateway) await namespaces.makeGateway(plan);
      await networks.#begin(routes);
    } catch (error) {
      await networks.close().catch(() => undefined);
      throw error;
    }
    return networks;
  }

  private constructor(options: NetworksOptions, namespaces: Namespaces, plan: AddressPlan, notes: NetworkNotes) {
    this.#options = options;
    this.#namespaces = namespaces;
    this.#plan = plan;
    this.#notes = notes;
    this.#links = new TenantLinks(join(options.stateDir, 'networks'));
  }

  async #begin(routes: readonly KernelRoute[]): Promise<void> {
    forward(routes);
    await this.#namespaces.limitFlows(this.#plan);
    await this.sweep();
    await this.#apply();
    this.#prepareNext();
  }

  #prepareNext(): void {
    this.#prepared ??= this.#prepare();
    // A rejection reaches the one who takes the prepared network.
    this.#prepared.catch(() => undefined);
  }

  /** Address of a network in which nothing is; for a trial. */
  async trialAddress(): Promise<string> {
    this.#prepared ??= this.#prepare();
    return this.#placeOf(await this.#prepared).address;
  }

  /** A network that the sandbox has until release(). */
  async enter(id: string, tenant: string, services: readonly Service[]): Promise<EnteredNetwork> {
    const empty = await this.#takePrepared();
    const place = this.#placeOf(empty);
    try {
      const forwards = [...empty.forwards, ...this.#forwardsTo(services.filter(isLoopback), PROTOCOLS)];
      const endpoints = services.filter((service) => !isLoopback(service)).flatMap(bothProtocols);
      const local = services.flatMap(bothProtocols);
      this.#notes.save({ ...empty, id, tenant, endpoints, forwards, local: [...empty.local, ...local] });
      if (forwards.length > empty.forwards.length) await this.#filterUnit(place, forwards);
      const opened = this.#apply().then(() => this.#prepareNext());
      // Whoever waits for it hears of it.
      opened.catch(() => undefined);
      return { address: place.address, path: place.path, opened };
    } catch (error) {
      await this.#remove(empty);
      throw error;
    }
  }

  /** The sandbox has processes in its network, which is known by them from now on. */
  async settled(id: string): Promise<void> {
    const note = this.#notes.of(id);
    if (note === null) return;
    const { namespace } = this.#placeOf(note);
    const inode = this.#namespaces.inodeOf(namespace);
    if (inode === null) return;
    this.#notes.save({ ...note, inode });
    await this.#namespaces.unname(namespace);
  }

  /** Who reaches whom beside their own, in place of what was before. Resolves when the packet filter is so. */
  async link(tenants: readonly LinkedTenant[]): Promise<void> {
    const taken = new Set(this.#notes.all().map(({ index }) => index));
    this.#areLinksDue = this.#links.replace(tenants, taken) || this.#areLinksDue;
    if (!this.#areLinksDue) return;
    await this.#apply();
    this.#areLinksDue = false;
  }

  /** The tenants that this one reaches, and the address by which it does. */
  linked(tenant: string): { readonly tenant: string; readonly address: string }[] {
    return this.#links
      .from(tenant)
      .map(({ tenant: to, index }) => ({ tenant: to, address: addressAt(this.#plan, index) }));
  }

  /** What of the filter on the machine is not as it was made, for people; null: nothing. Somebody may have emptied all of it. */
  async fault(): Promise<string | null> {
    if (this.#machineRules === '') return null;
    const there = await this.#namespaces.machineRules(this.#plan.table);
    if (there === null) return 'the packet filter of units is not on the machine any more';
    return isSameChains(this.#machineRules, there)
      ? null
      : 'the packet filter of units on the machine has been changed';
  }

  /** Makes it as it is to be. */
  async mend(): Promise<void> {
    this.#machineRules = '';
    forward(await this.#namespaces.routes());
    await this.#apply();
  }

  of(id: string): OwnNetwork | null {
    const note = this.#notes.of(id);
    if (note === null) return null;
    const { address, path } = this.#placeOf(note);
    return { address, path };
  }

  /** Unknown id: nothing to do. */
  async release(id: string): Promise<void> {
    const note = this.#notes.of(id);
    if (note !== null) await this.#remove(note);
  }

  /** Removes what platform processes that are gone have left and nothing runs in. Returns how many networks that were. */
  async sweep(): Promise<number> {
    const notes = this.#notes.all();
    const kept = new Set<string>();
    let removed = 0;
    // All of them are looked at together, for that takes a look at every process of the machine.
    const left = notes.filter((note) => !this.#notes.isLooked(note) && note.id !== null);
    const inhabited = left.length === 0 ? new Set<number>() : this.#namespaces.inhabited();
    for (const note of notes) {
      const { namespace } = this.#placeOf(note);
      const inode = note.inode ?? this.#namespaces.inodeOf(namespace);
      const isInhabited = note.id !== null && inode !== null && inhabited.has(inode);
      if (this.#notes.isLooked(note) || isInhabited) {
        kept.add(namespace);
        continue;
      }
      await this.#remove(note);
      removed += 1;
    }
    const known = new Set(this.#notes.all().map((note) => this.#placeOf(note).namespace));
    for (const name of this.#namespaces.unitNamespaces(this.#plan)) {
      if (kept.has(name) || known.has(name)) continue;
      const index = Number(name.slice(this.#plan.gateway.length + 1));
      await this.#namespaces.removeUnit(this.#plan, unitPlace(this.#plan, index));
      removed += 1;
    }
    return removed;
  }

  /** Removes the prepared network, and everything when no sandbox has one any more. */
  async close(): Promise<void> {
    const prepared = await this.#prepared?.catch(() => null);
    this.#prepared = null;
    if (prepared) await this.#remove(prepared);
    await this.sweep();
    if (this.#notes.all().length > 0) return;
    await this.#namespaces.removeHome(this.#plan.scope);
    releaseRange(this.#plan.scope);
    takeForwardingBack();
  }

  async #takePrepared(): Promise<NetworkNote> {
    const prepared = this.#prepared;
    this.#prepared = null;
    const taken = prepared === null ? this.#prepare() : prepared.catch(() => this.#prepare());
    const note = await taken;
    if (existsSync(this.#placeOf(note).path)) return note;
    this.#notes.remove(note.index);
    return this.#prepare();
  }

  async #prepare(): Promise<NetworkNote> {
    const bare = this.#notes.take();
    try {
      const resolvers = this.#resolvers().loopback.map((address) => ({ address, port: DNS }));
      const forwards = this.#forwardsTo(resolvers, PROTOCOLS);
      const note = { ...bare, forwards, local: resolvers.flatMap(bothProtocols) };
      this.#notes.save(note);
      const place = this.#placeOf(note);
      await this.#namespaces.makeUnit(this.#plan, place, unitRules(this.#plan, place.address, forwards));
      await this.#apply();
      return note;
    } catch (error) {
      await this.#remove(bare);
      throw error;
    }
  }

  /** Out of the rules first, so that nobody who gets the address later has what was allowed to this one. */
  async #remove(note: NetworkNote): Promise<void> {
    const place = this.#placeOf(note);
    if (note.id !== null) {
      this.#notes.save({ ...note, id: null, tenant: '', endpoints: [] });
      await this.#apply();
    }
    await this.#namespaces.removeUnit(this.#plan, place);
    this.#notes.remove(note.index);
  }

  async #filterUnit({ namespace, address }: UnitPlace, forwards: readonly Forward[]): Promise<void> {
    await this.#namespaces.filter(namespace, unitRules(this.#plan, address, forwards));
  }

  async #applyRules(): Promise<void> {
    const { allowed, edgeUser } = this.#options;
    const rules = homeRules(
      this.#plan,
      { notes: this.#notes.all(), links: this.#links.all() },
      {
        allowed,
        resolvers: this.#resolvers().others,
        uids: [process.geteuid?.() ?? 0, ...(edgeUser === null ? [] : [edgeUser])],
      },
    );
    const machine = machineRules(this.#plan, rules);
    await Promise.all([
      this.#namespaces.filter(this.#plan.gateway, gatewayRules(this.#plan, rules)),
      machine === this.#machineRules ? null : this.#namespaces.filter(null, machine),
    ]);
    this.#machineRules = machine;
  }

  #forwardsTo(services: readonly Service[], protocols: readonly TransportEndpoint['protocol'][]): Forward[] {
    return services.flatMap(({ address, port }) => {
      const standIn = this.#standIn(address);
      return protocols.map((protocol) => ({ from: address, standIn, protocol, port }));
    });
  }

  /** The address of the range that stands for a loopback address; the same one as long as any network knows it. */
  #standIn(loopback: string): string {
    const own = this.#standIns.get(loopback);
    if (own !== undefined) return own;
    const known = new Map(
      this.#notes.all().flatMap((note) => note.forwards.map(({ from, standIn }) => [from, standIn])),
    );
    const given = known.get(loopback);
    if (given !== undefined) {
      this.#standIns.set(loopback, given);
      return given;
    }
    const taken = new Set([...known.values(), ...this.#standIns.values()]);
    for (let index: number = STAND_INS.from; index <= STAND_INS.to; index += 1) {
      const address = addressAt(this.#plan, index);
      if (taken.has(address)) continue;
      this.#standIns.set(loopback, address);
      return address;
    }
    throw new Error(`Apps reach at most ${STAND_INS.to - STAND_INS.from + 1} loopback addresses of this machine.`);
  }

  /** Given by this process, whether noted yet or not. */
  readonly #standIns = new Map<string, string>();

  #resolvers(): ReturnType<typeof parseResolvers> {
    try {
      return parseResolvers(readFileSync(RESOLV_CONF, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return parseResolvers('');
      throw error;
    }
  }

  #placeOf({ index }: Pick<NetworkNote, 'index'>): UnitPlace {
    return unitPlace(this.#plan, index);
  }
}

function isLoopback({ address }: Service): boolean {
  return Math.floor(toNumber(address) / 2 ** 24) === 127;
}

function bothProtocols({ address, port }: Service): TransportEndpoint[] {
  return PROTOCOLS.map((protocol) => ({ address, protocol, port }));
}
