/**
 * Contract of the isolation levels: one Sandbox is probed at start and turns "run this argv in this directory, as this
 * tenant, with these limits" into a spawned process. Used for units, builds and one-off commands alike.
 */
import type { Usage } from './usage.ts';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { ReachedService } from '../networks/networks.ts';
import type { LinkedTenant } from '../networks/tenant-links.ts';

export type SandboxLevel = 'bubblewrap' | 'user' | 'plain';

export interface SandboxRequest {
  readonly argv: readonly string[];
  /** Working directory. */
  readonly cwd: string;
  /** The complete environment; nothing is inherited. USER and LOGNAME are added where they are not in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Whose user the process runs as (one uid per tenant at the levels that have it); an app's name. */
  readonly tenant: string;
  /** Directories visible to the process, beside the system's read-only ones. Everything else of TANCHO_HOME is hidden where the level allows. */
  readonly binds: readonly SandboxBind[];
  /** Absent: the system's directories. Only where Sandbox.roots is true. */
  readonly root?: SandboxRoot;
  /** The process is root of a user namespace of its own with many users: it may mount, and become others. Only where Sandbox.manyUsers is true. */
  readonly manyUsers?: boolean;
  readonly limits: {
    readonly memoryBytes: number;
    readonly cpuMillis: number;
    readonly processes: number;
    /** Where the processor is short, relative to the 100 of others; 0 and absent: as they. */
    readonly cpuShare?: number;
  };
  readonly stdio: StdioOptions;
  /** True: the process dies with its parent (builds, one-off commands); false: it outlives it (units). */
  readonly dieWithParent: boolean;
  /** Unique name for cgroups and the like. */
  readonly id: string;
  /** What it reaches beside the internet and its tenant's other processes, where it has a network of its own; absent: nothing. */
  readonly services?: readonly ReachedService[];
}

export interface SandboxBind {
  readonly path: string;
  readonly writable: boolean;
  /** Where the process sees it; absent: where it is. Heeded by bubblewrap only; with a root, what stands at the root's top is hidden by it. */
  readonly at?: string;
  /** With a root: it lies within what stands at the root's top, which stays. The directory is there. */
  readonly within?: boolean;
  /** With a root: a new directory in place of what is there, for what is put below it. The directory is there; `path` is where. */
  readonly isEmpty?: boolean;
}

/** A root file system of the process's own; it must belong to the tenant, who may change everything below what stands at its top, or be shared. */
export interface SandboxRoot {
  readonly directory: string;
  /** As which the process sees itself; outside it is the tenant's user all the same. Not 0. */
  readonly uid: number;
  readonly gid: number;
  /** By which the root knows the uid; absent: none that is known. */
  readonly name?: string;
  /** Shared by the platform and all apps, so it is mounted read-only. */
  readonly isShared?: boolean;
}

export interface SandboxProcess {
  readonly child: ChildProcess;
  /** Pid of the process whose death ends the whole tree (the init of the pid namespace, else the group leader). */
  readonly rootPid: number;
  /** Kernel start time of rootPid, in clock ticks since boot, so a reused pid is recognised. */
  readonly rootStart: string;
  /**
   * The process that runs `argv`: the root itself, or its child where the root is the init of a pid namespace; pid 0
   * when it ended before it was seen. Never rejects.
   */
  readonly main: Promise<{ readonly pid: number; readonly start: string }>;
  /** Where it is reached from this machine; null where it shares the machine's network. */
  readonly address: string | null;
  /** The port of `address` that openDoor() has lead into it; null: its own ports are those of the address. */
  readonly door: number | null;
}

/** What finds a tree of processes again; rootPid 0 when only the id is known. */
export interface SandboxTree {
  readonly rootPid: number;
  readonly rootStart: string;
  readonly id: string;
}

export interface Sandbox {
  readonly level: SandboxLevel;
  /** One line for people: the level, the limits in force, and why not more. */
  readonly description: string;
  readonly limits: { readonly memory: boolean; readonly cpu: boolean; readonly processes: boolean };
  /** Whether a process can have a root file system of its own. */
  readonly roots: boolean;
  /** Whether a process can be root among users of its own, none of whom is anybody on the machine but the tenant, its root. */
  readonly manyUsers: boolean;
  /** Whether every process has a network of its own, with all ports free. */
  readonly networks: boolean;
  /** Users of the machine that tenants run as; null where all run as the platform's own. */
  readonly users: { readonly from: number; readonly to: number } | null;
  /** Of these the tenant's, as the machine knows it; null where it has none. */
  userOf(tenant: string): number | null;
  /** Whether tenants can be linked, see link(): they have networks of their own, and files in which they find names. */
  readonly links: boolean;
  /** Resolves once the process is set to run; listeners added to `child` at once miss neither output nor exit. */
  spawn(request: SandboxRequest): Promise<SandboxProcess>;
  /** Makes a directory tree belong to the tenant (owner only) where the level has tenants; else nothing. */
  own(path: string, tenant: string): Promise<void>;
  /** Lets the tenant read in a directory of the platform's, and no other tenant, where the level has tenants; else nothing. */
  admit(path: string, tenant: string): Promise<void>;
  /** From when it resolves on the door of a sandbox leads to this port of it, in place of the one before; nothing where it has none. */
  openDoor(id: string, port: number): Promise<void>;
  /** Where its door leads to; null: nowhere, or it has none. */
  behindDoor(id: string): number | null;
  /** Signals every process of the tree. */
  kill(process: SandboxTree, signal: NodeJS.Signals): Promise<void>;
  /** True while any process of the tree is alive. */
  alive(process: SandboxTree): Promise<boolean>;
  /** Pids of the tree. */
  pids(process: SandboxTree): Promise<number[]>;
  /** What each tree uses, by id; all are asked for at once because looking for processes takes long without control groups. */
  usage(trees: readonly SandboxTree[]): Promise<Map<string, Usage>>;
  /** True when the kernel has killed a process of the tree for want of memory. */
  outOfMemory(id: string): Promise<boolean>;
  /** Exit code of argv as noted outside of the process that spawned it (128 + signal for a signal); null when nobody noted it. */
  exitCode(id: string): Promise<number | null>;
  /**
   * Calls back when something was noted of a sandbox, such as its exit code, with its id (where that is letters, digits, _ and -); answers what ends that.
   * Where nobody notes it is never called, and it can fail to be: whoever needs to know for sure looks now and then, too.
   */
  onNoted(listener: (id: string) => void): () => void;
  /**
   * Where the processor is short, a process of the platform's own, with those that it starts from then on, goes before all tenants; by an id that no sandbox
   * has, until release() of that. Nothing where there are no control groups.
   */
  prefer(id: string, pid: number): void;
  /** Removes what spawn() or prefer() made beside the process (cgroup directories). */
  release(id: string): Promise<void>;
  /**
   * Ends whatever the tenant's user still runs and gives the uid back, to nobody as long as something survives that. Call only when no
   * file of the tenant is left. Unknown tenant: nothing to do.
   */
  forget(tenant: string): Promise<void>;
  /** Which tenants reach others beside their own, in place of what was before; only where `links` is true. */
  link(tenants: readonly LinkedTenant[]): Promise<void>;
  /** Whom a tenant reaches, and at which address of its network, which stays the same. Empty where `links` is false. */
  linked(tenant: string): { readonly tenant: string; readonly address: string }[];
  /** What of the networks on this machine is not as it was made, for people; null: nothing, also where there are none. */
  networkFault(): Promise<string | null>;
  /** Makes them as they are to be. */
  mendNetworks(): Promise<void>;
  /** Lets go of the machine: what no process of the home needs any more is removed. */
  close(): Promise<void>;
}
