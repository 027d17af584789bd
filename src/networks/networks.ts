/**
 * A network of its own for every sandbox of a home: a namespace with one link to the home's gateway, a namespace too, whose
 * packet filter decides who reaches what. One network is prepared ahead of need, so that a start only enters it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { askedTogether } from '../lib/asked-together.ts';
import {
  addressAt,
  type AddressPlan,
  addressPlan,
  DOOR_INDEXES,
  doorAt,
  UNIT_INDEXES,
  type UnitPlace,
  unitPlace,
} from './address-plan.ts';
import { homeRules } from './home-rules.ts';
import { toNumber } from '../lib/ipv4.ts';
import { Namespaces, type NetworkTools } from './namespaces.ts';
import { type NetworkNote, NetworkNotes } from './network-notes.ts';
import { forward, takeForwardingBack } from './forwarding.ts';
import { CLAIMS, claimRange, clearAbandoned, releaseRange, type KernelRoute } from './range-claims.ts';
import type { UnitDoor } from './rootless/machine-rules.ts';
import type { OwnMachine } from './rootless/own-machine.ts';
import { readResolvers } from './resolvers.ts';
import { StandIns } from './stand-ins.ts';
import { type LinkedTenant, TenantLinks } from './tenant-links.ts';
import { type TransportEndpoint, gatewayRules, isSameChains, machineRules, PROTOCOLS } from './rules.ts';

/** What a sandbox reaches beside the internet and the units of its tenant: an address and a port of it, loopback ones as seen by the machine. */
export interface ReachedService {
  readonly address: string;
  readonly port: number;
}

interface OwnNetwork {
  readonly address: string;
  /** What programs enter it by. */
  readonly path: string;
}

export interface EnteredNetwork extends OwnNetwork {
  /** Port of `address` that openDoor() has lead into it; null: it has that address for itself, and each port is its own. */
  readonly door: number | null;
  /** In which a program has to be before it may enter; null: it may. */
  readonly userNamespace: string | null;
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
  /** In which all of it is made, where this process may not do so on the real one. */
  readonly machine?: OwnMachine;
}

const DNS = 53;

export class Networks {
  readonly #options: NetworksOptions;
  readonly #namespaces: Namespaces;
  readonly #machine: OwnMachine | null;
  #plan: AddressPlan;
  readonly #notes: NetworkNotes;
  readonly #links: TenantLinks;
  readonly #standIns: StandIns;
  readonly #apply = askedTogether(() => this.#applyRules());
  #prepared: Promise<NetworkNote> | null = null;
  #machineRules = '';
  #applied: readonly string[] = [];
  #areLinksDue = false;

  /** Throws with why when this machine has no such networks. */
  static async open(options: NetworksOptions): Promise<Networks> {
    const { scope, stateDir, machine } = options;
    const namespaces = new Namespaces(options.tools, machine);
    if (machine === undefined) await clearAbandoned((gone) => namespaces.removeHome(gone));
    const claims = claimsOf(options);
    const named = addressPlan(scope, '0.0.0.0');
    const notes = new NetworkNotes(join(stateDir, 'networks'), machine === undefined ? UNIT_INDEXES : DOOR_INDEXES);
    const routes = await namespaces.routes();
    const hasGateway = namespaces.hasGateway(named, routes);
    if (!hasGateway) {
      if (machine === undefined) await namespaces.removeHome(scope);
      else await clearMachine(machine, namespaces, notes);
      for (const { index } of notes.all()) notes.remove(index);
      releaseRange(scope, claims);
    }
    const theirs = machine === undefined ? routes : await new Namespaces(options.tools).routes();
    const plan = addressPlan(scope, claimRange({ scope, stateDir }, theirs, claims), machine?.root);
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
    this.#machine = options.machine ?? null;
    // Where it fails, whoever looks for faults tries it again.
    if (this.#machine !== null) this.#machine.onLost = () => void this.mend().catch(() => undefined);
    this.#namespaces = namespaces;
    this.#plan = plan;
    this.#notes = notes;
    this.#links = new TenantLinks(join(options.stateDir, 'networks'));
    this.#standIns = new StandIns(notes, (index) => addressAt(this.#plan, index));
  }

  async #begin(routes: readonly KernelRoute[]): Promise<void> {
    if (this.#machine === null) forward(routes);
    else await this.#machine.connect(this.#plan);
    await this.#namespaces.routeDirectly(this.#plan);
    await this.#namespaces.limitFlows(this.#plan);
    await this.sweep();
    await this.#apply();
    this.#prepareNext();
  }

  /** They are made without root, by way of pasta. */
  get isOnOwnMachine(): boolean {
    return this.#machine !== null;
  }

  #prepareNext(): void {
    this.#prepared ??= this.#prepare();
    // A rejection reaches the one who takes the prepared network.
    this.#prepared.catch(() => undefined);
  }

  /** Where a network is reached in which nothing is; for a trial. */
  async trialAddress(): Promise<{ readonly host: string; readonly port: number | null }> {
    this.#prepared ??= this.#prepare();
    const { address: host, door: port } = this.#reached(await this.#prepared);
    return { host, port };
  }

  /** A network that the sandbox has until release(). */
  async enter(id: string, tenant: string, services: readonly ReachedService[]): Promise<EnteredNetwork> {
    const empty = await this.#takePrepared();
    const place = this.#placeOf(empty);
    try {
      const forwards = [...empty.forwards, ...this.#standIns.forwards(services.filter(isLoopback))];
      const endpoints = services.filter((service) => !isLoopback(service)).flatMap(bothProtocols);
      const local = services.flatMap(bothProtocols);
      this.#notes.save({ ...empty, id, tenant, endpoints, forwards, local: [...empty.local, ...local] });
      if (forwards.length > empty.forwards.length) await this.#namespaces.filterUnit(this.#plan, place, forwards);
      const opened = this.#apply().then(() => this.#prepareNext());
      // Whoever waits for it hears of it.
      opened.catch(() => undefined);
      const userNamespace = this.#machine?.userNamespace ?? null;
      return { ...this.#reached(empty), path: place.path, userNamespace, opened };
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

  /** From when it resolves on the sandbox's door leads to this port of it, and no other. */
  async openDoor(id: string, port: number): Promise<void> {
    const note = this.#notes.of(id);
    if (note === null || note.behind === port) return;
    this.#notes.save({ ...note, behind: port });
    await this.#apply();
  }

  /** Null: it has no door, or that leads nowhere. */
  behindDoor(id: string): number | null {
    return this.#notes.of(id)?.behind ?? null;
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
    const lost = this.#machine?.fault() ?? null;
    if (lost !== null || this.#machineRules === '') return lost;
    if ((this.#machine?.addresses() ?? []).join() !== this.#applied.join())
      return 'this machine has other addresses than before';
    const there = await this.#namespaces.machineRules(this.#plan.table).catch((error: unknown) => {
      if (this.#machine?.isHeld !== false) throw error;
      return null;
    });
    if (there === null) return 'the packet filter of units is not on the machine any more';
    if (!(await this.#namespaces.isRoutedDirectly(this.#plan)))
      return 'the rules by which the edge reaches units without the gateway are not on the machine any more';
    return isSameChains(this.#machineRules, there)
      ? null
      : 'the packet filter of units on the machine has been changed';
  }

  /** Makes it as it is to be. */
  readonly mend = askedTogether(() => this.#mend());

  async #mend(): Promise<void> {
    this.#machineRules = '';
    if (this.#machine?.isHeld === false) return this.#beginAnew(this.#machine);
    if (this.#machine === null) forward(await this.#namespaces.routes());
    else await this.#machine.connect(this.#plan);
    await this.#namespaces.routeDirectly(this.#plan);
    await this.#apply();
  }

  /** What was in the networks of a machine that has ended reaches nobody any more, and is ended. */
  async #beginAnew(machine: OwnMachine): Promise<void> {
    await this.#prepared?.catch(() => undefined);
    this.#prepared = null;
    await clearMachine(machine, this.#namespaces, this.#notes);
    this.#plan = { ...this.#plan, root: machine.root };
    await this.#namespaces.makeGateway(this.#plan);
    await this.#begin([]);
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
    if (this.#machine === null) await this.#namespaces.removeHome(this.#plan.scope);
    else await this.#machine.end();
    releaseRange(this.#plan.scope, claimsOf(this.#options));
    if (this.#machine === null) takeForwardingBack();
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
    const bare = this.#notes.take((index) => this.#machine?.unopened.has(doorAt(index)) !== true);
    try {
      const resolvers = readResolvers().loopback.map((address) => ({ address, port: DNS }));
      const forwards = this.#standIns.forwards(resolvers);
      const note = { ...bare, forwards, local: resolvers.flatMap(bothProtocols) };
      this.#notes.save(note);
      const place = this.#placeOf(note);
      await this.#namespaces.makeUnit(this.#plan, place, forwards);
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

  async #applyRules(): Promise<void> {
    const { allowed, edgeUser } = this.#options;
    const rules = homeRules(
      this.#plan,
      { notes: this.#notes.all(), links: this.#links.all() },
      {
        allowed,
        unreached: this.#machine?.addresses() ?? [],
        resolvers: readResolvers().others,
        uids: [process.geteuid?.() ?? 0, ...(edgeUser === null ? [] : [edgeUser])],
      },
    );
    const doors = this.#notes.all().flatMap((note) => this.#doorOf(note));
    const machine = this.#machine?.rules(this.#plan, rules, doors) ?? machineRules(this.#plan, rules);
    await Promise.all([
      this.#namespaces.renew(this.#plan.gateway, gatewayRules(this.#plan, rules)),
      machine === this.#machineRules ? null : this.#namespaces.filter(null, machine),
    ]);
    this.#machineRules = machine;
    this.#applied = rules.unreached;
  }

  #doorOf(note: NetworkNote): UnitDoor[] {
    const { index, behind: port } = note;
    return port === undefined ? [] : [{ door: doorAt(index), address: this.#placeOf(note).address, port }];
  }

  #reached({ index }: NetworkNote): { address: string; door: number | null } {
    if (this.#machine === null) return { address: addressAt(this.#plan, index), door: null };
    return { address: this.#machine.doorHost, door: doorAt(index) };
  }

  #placeOf({ index }: Pick<NetworkNote, 'index'>): UnitPlace {
    return unitPlace(this.#plan, index);
  }
}

function claimsOf({ machine, stateDir }: NetworksOptions): string {
  return machine === undefined ? CLAIMS : join(stateDir, 'networks', 'claims');
}

/** Nothing is left in it, nor in networks that were of one before. */
async function clearMachine(machine: OwnMachine, namespaces: Namespaces, notes: NetworkNotes): Promise<void> {
  const inodes = new Set(notes.all().flatMap(({ inode }) => inode ?? []));
  await machine.begin(inodes.size === 0 ? [] : namespaces.inhabitants(inodes));
  for (const { index } of notes.all()) notes.remove(index);
}

function isLoopback({ address }: ReachedService): boolean {
  return Math.floor(toNumber(address) / 2 ** 24) === 127;
}

function bothProtocols({ address, port }: ReachedService): TransportEndpoint[] {
  return PROTOCOLS.map((protocol) => ({ address, protocol, port }));
}
