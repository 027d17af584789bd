/** The Sandbox of one isolation level. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Account, accountFiles, machineUserName, TENANT_NAME } from './accounts.ts';
import { safeName } from './cgroups.ts';
import type { Cgroups } from './cgroups.ts';
import { allProcesses, familyOf } from '../lib/processes.ts';
import { SeenUsage, type Usage, usageOfEach, usageOfProcesses } from './usage.ts';
import { watchNotes } from './exit-notes.ts';
import { joinAll, launchBubblewrap, launchDirect, type Launched } from './launch.ts';
import { admit, handOver } from './ownership.ts';
import { inNetwork, planBubblewrap, planPlain, planUser } from './plan.ts';
import type { BubblewrapFacts, LaunchPlan, SandboxPrograms, SystemView } from './plan.ts';
import { hasUserRange, planManyUsers, userMap } from './plan-many-users.ts';
import type { EnteredNetwork, Networks } from '../networks/networks.ts';
import type { LinkedTenant } from '../networks/tenant-links.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { isAlive, readProcess } from '../lib/processes.ts';
import { rootEntries } from './root-entries.ts';
import { seccompFilter } from './seccomp/filter.ts';
import type { Sandbox, SandboxLevel, SandboxProcess, SandboxRequest, SandboxTree } from './sandbox.ts';
import type { Tenants } from './tenants.ts';
import { endProcessesOf } from './user-processes.ts';
import { signalTree, treeAlive, treePids } from './tree.ts';
import type { TreeFacts } from './tree.ts';

export interface IsolationLevel {
  readonly level: SandboxLevel;
  readonly programs: SandboxPrograms;
  /** Null where every tenant runs as the platform's own user. */
  readonly tenants: Tenants | null;
  /** Null where the whole machine is seen. */
  readonly system: SystemView | null;
}

const UNLIMITED = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
/**
 * Of what goes before tenants: twice what all of these have together. The more it weighs the sooner it runs whenever anything arrives: at five times the
 * edge woke up for requests one by one, and a busy machine of two cores served a tenth to a quarter fewer.
 */
const PREFERRED_SHARE = 400;

/** This process, as sweep() recognises it. */
const OWNER = `${process.pid} ${readProcess(process.pid)?.start ?? ''}`;

interface LevelSandboxOptions {
  readonly isolation: IsolationLevel;
  readonly cgroups: Cgroups | null;
  readonly stateDir: string;
  readonly description: string;
  /** Whether tryRoot() has worked. */
  readonly roots: boolean;
  /** Null where processes share the machine's network. */
  readonly networks: Networks | null;
}

export class LevelSandbox implements Sandbox {
  readonly level: SandboxLevel;
  readonly description: string;
  readonly limits: Sandbox['limits'];
  readonly roots: boolean;
  readonly networks: boolean;
  readonly users: Sandbox['users'];
  readonly links: boolean;
  readonly manyUsers: boolean;
  readonly #isolation: IsolationLevel;
  readonly #networks: Networks | null;
  readonly #cgroups: Cgroups | null;
  readonly #seenUsage = new SeenUsage();
  /** Of what goes before tenants. */
  readonly #preferred: Cgroups | null;
  readonly #facts: TreeFacts;
  /** Distinguishes this platform's sandboxes from those of another one on the same machine. */
  readonly #scope: string;
  readonly #statusDir: string;
  readonly #boundDir: string;
  /** Null where system calls are not filtered. */
  readonly #filterFile: string | null;

  constructor(options: LevelSandboxOptions) {
    const { isolation, cgroups } = options;
    this.level = isolation.level;
    this.description = options.description;
    this.roots = options.roots;
    this.networks = options.networks !== null;
    this.users = isolation.tenants?.range ?? null;
    this.manyUsers =
      options.roots && isolation.tenants !== null && hasUserRange(readFileSync('/proc/self/uid_map', 'utf8'));
    this.#networks = options.networks;
    this.links = this.networks && isolation.system !== null;
    this.limits = {
      memory: cgroups?.has('memory') ?? false,
      cpu: cgroups?.has('cpu') ?? false,
      processes: cgroups?.has('pids') ?? false,
    };
    this.#scope = scopeOf(options.stateDir);
    this.#isolation = isolation;
    this.#cgroups = cgroups;
    this.#preferred = cgroups?.beside('first', PREFERRED_SHARE) ?? null;
    this.#facts = { isNamespace: isolation.level === 'bubblewrap', cgroups };
    this.#statusDir = join(options.stateDir, 'status');
    this.#boundDir = join(options.stateDir, 'bound');
    for (const path of [this.#statusDir, this.#boundDir]) mkdirSync(path, { recursive: true, mode: 0o700 });
    const filter = isolation.level === 'bubblewrap' ? seccompFilter(process.arch) : null;
    this.#filterFile = filter === null ? null : join(options.stateDir, 'seccomp.bpf');
    if (filter !== null && this.#filterFile !== null) replaceFile(this.#filterFile, filter);
  }

  async spawn(request: SandboxRequest): Promise<SandboxProcess> {
    if (request.dieWithParent) await writeFile(this.#boundFile(request.id), OWNER, { mode: 0o600 });
    const scoped = { ...request, id: this.#scoped(request.id) };
    this.#cgroups?.create(scoped.id, request.limits);
    try {
      const network = (await this.#networks?.enter(request.id, request.tenant, request.services ?? [])) ?? null;
      const launched = await this.#launch(scoped, network);
      // What enters its network first of all may still be about to do so elsewhere.
      if (this.level === 'bubblewrap') void this.#networks?.settled(request.id).catch(() => undefined);
      return { ...launched, address: network?.address ?? null, door: network?.door ?? null };
    } catch (error) {
      await this.kill({ rootPid: 0, rootStart: '', id: request.id }, 'SIGKILL');
      await this.release(request.id);
      throw error;
    }
  }

  async #launch(asked: SandboxRequest, network: EnteredNetwork | null): Promise<Launched> {
    const { programs, tenants, system } = this.#isolation;
    if (asked.root !== undefined && system === null) throw new Error(`${this.level} has no root file systems.`);
    if (asked.manyUsers === true && !this.manyUsers) throw new Error(`${this.level} has no users of one's own.`);
    const uid = tenants?.uid(asked.tenant) ?? null;
    const account = this.#account(asked, uid);
    const request = { ...asked, env: { ...named(account.name), ...asked.env } };
    const within = (plan: LaunchPlan): LaunchPlan => (network === null ? plan : inNetwork(plan, network, programs));
    if (system !== null) {
      const entries = request.root === undefined ? [] : await rootEntries(request.root.directory);
      return launchBubblewrap({
        request,
        statusFile: this.#statusFile(request.id),
        cgroups: this.#cgroups,
        before: network?.opened ?? null,
        users: request.manyUsers === true ? userMap(uid ?? 0) : null,
        filterFile: request.manyUsers === true ? null : this.#filterFile,
        accounts: request.root === undefined ? accountFiles(account) : null,
        plan: (fds) => within(planned(request, { programs, system, uid, entries, fds, user: userWithin(network) })),
      });
    }
    await network?.opened;
    const plan = uid === null ? planPlain(request, programs) : planUser(request, programs, uid);
    return launchDirect(request, within(plan), this.#cgroups);
  }

  /** As whom the process sees itself. */
  #account({ root, manyUsers, env }: SandboxRequest, tenant: number | null): Account {
    const home = env['HOME'] ?? '/';
    if (root !== undefined) return { name: root.name ?? '', uid: root.uid, gid: root.gid, home };
    if (manyUsers === true) return { name: 'root', uid: 0, gid: 0, home };
    const name = this.level === 'plain' ? machineUserName() : TENANT_NAME;
    return { name, uid: tenant ?? process.getuid?.() ?? 0, gid: tenant ?? process.getgid?.() ?? 0, home };
  }

  async openDoor(id: string, port: number): Promise<void> {
    await this.#networks?.openDoor(id, port);
  }

  behindDoor(id: string): number | null {
    return this.#networks?.behindDoor(id) ?? null;
  }

  userOf(tenant: string): number | null {
    return this.#isolation.tenants?.known(tenant) ?? null;
  }

  async own(path: string, tenant: string): Promise<void> {
    if (this.#isolation.tenants !== null) await handOver(path, this.#isolation.tenants.uid(tenant));
  }

  async admit(path: string, tenant: string): Promise<void> {
    if (this.#isolation.tenants !== null) await admit(path, this.#isolation.tenants.uid(tenant));
  }

  async kill(tree: SandboxTree, signal: NodeJS.Signals): Promise<void> {
    await signalTree(this.#tree(tree), this.#facts, signal);
  }

  async alive(tree: SandboxTree): Promise<boolean> {
    return treeAlive(this.#tree(tree), this.#facts);
  }

  async pids(tree: SandboxTree): Promise<number[]> {
    return treePids(this.#tree(tree), this.#facts);
  }

  async usage(trees: readonly SandboxTree[]): Promise<Map<string, Usage>> {
    const cgroups = this.#cgroups;
    const seen = this.#seenUsage;
    seen.begin();
    if (cgroups !== null) return usageOfEach(trees, ({ id }) => cgroups.usage(this.#scoped(id), seen));
    const all = allProcesses();
    return new Map(trees.map(({ id, rootPid }) => [id, usageOfProcesses(familyOf(rootPid, all), seen)]));
  }

  async outOfMemory(id: string): Promise<boolean> {
    return this.#cgroups?.outOfMemory(this.#scoped(id)) ?? false;
  }

  prefer(id: string, pid: number): void {
    if (this.#preferred === null) return;
    const name = this.#scoped(id);
    this.#preferred.create(name, UNLIMITED);
    joinAll(this.#preferred, name, familyOf(pid, allProcesses()));
  }

  async exitCode(id: string): Promise<number | null> {
    try {
      const match = /"exit-code"\s*:\s*(\d+)/.exec(await readFile(this.#statusFile(this.#scoped(id)), 'latin1'));
      return match === null ? null : Number(match[1]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  onNoted(listener: (id: string) => void): () => void {
    if (this.level !== 'bubblewrap') return () => undefined;
    const [before, after] = [`${this.#scope}-`, '.json'];
    return watchNotes(this.#statusDir, (file) => {
      if (file.startsWith(before) && file.endsWith(after)) listener(file.slice(before.length, -after.length));
    });
  }

  async release(id: string): Promise<void> {
    for (const groups of [this.#cgroups, this.#preferred]) await groups?.remove(this.#scoped(id));
    await rm(this.#statusFile(this.#scoped(id)), { force: true });
    await this.#networks?.release(id);
    await rm(this.#boundFile(id), { force: true });
  }

  async forget(tenant: string): Promise<void> {
    const { tenants } = this.#isolation;
    const uid = tenants?.known(tenant) ?? null;
    if (tenants === null || uid === null) return;
    if (await endProcessesOf(uid, this.#scope)) tenants.forget(tenant);
    else tenants.setAside(tenant);
  }

  async link(tenants: readonly LinkedTenant[]): Promise<void> {
    await this.#networks?.link(tenants);
  }

  linked(tenant: string): { readonly tenant: string; readonly address: string }[] {
    return this.links ? (this.#networks?.linked(tenant) ?? []) : [];
  }

  async networkFault(): Promise<string | null> {
    return (await this.#networks?.fault()) ?? null;
  }

  async mendNetworks(): Promise<void> {
    await this.#networks?.mend();
  }

  async close(): Promise<void> {
    await this.#networks?.close();
  }

  /**
   * Clears up after builds and commands of a platform process that was killed: they die with it, their control groups do not. What cannot be
   * cleared up now is left to the next sweep.
   */
  async sweep(logger: Logger): Promise<void> {
    const tenants = (this.#isolation.tenants?.aside() ?? []).map((tenant) =>
      bestEffort(logger, `ending what an app has left (${tenant})`, () => this.forget(tenant)),
    );
    const left = (await readdir(this.#boundDir)).map((id) =>
      bestEffort(logger, `clearing up after a process that was cut off (${id})`, () => this.#clearUp(id)),
    );
    await Promise.all([...tenants, ...left]);
  }

  async #clearUp(id: string): Promise<void> {
    const [pid, start = ''] = (await readFile(this.#boundFile(id), 'latin1')).split(' ');
    if (isAlive(Number(pid), start)) return;
    await this.kill({ rootPid: 0, rootStart: '', id }, 'SIGKILL');
    await this.release(id);
  }

  #scoped(id: string): string {
    return `${this.#scope}-${id}`;
  }

  #tree({ rootPid, rootStart, id }: SandboxTree): SandboxTree {
    return { rootPid, rootStart, id: this.#scoped(id) };
  }

  #statusFile(id: string): string {
    return join(this.#statusDir, `${safeName(id)}.json`);
  }

  #boundFile(id: string): string {
    return join(this.#boundDir, safeName(id));
  }
}

/** Another platform process of the home may be reading it. */
function replaceFile(path: string, bytes: Buffer): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, bytes, { mode: 0o600 });
  renameSync(draft, path);
}

export function scopeOf(stateDir: string): string {
  return createHash('sha256').update(resolve(stateDir)).digest('hex').slice(0, 8);
}

function named(name: string): Record<string, string> {
  return name === '' ? {} : { USER: name, LOGNAME: name };
}

/** Who the process is where it passes through a user namespace in which it would be root; null: who it is anyway. */
function userWithin(network: EnteredNetwork | null): BubblewrapFacts['user'] {
  if (network === null || network.userNamespace === null) return null;
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

function planned(request: SandboxRequest, facts: BubblewrapFacts): LaunchPlan {
  return request.manyUsers === true ? planManyUsers(request, facts) : planBubblewrap(request, facts);
}
