/**
 * Finds the strongest isolation level this machine has by really running something at each, and makes the
 * Sandbox. Does not decide who may run where; that is the domain's business.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, SILENT } from '../lib/logger.ts';
import { bootId } from '../lib/processes.ts';
import { Cgroups } from './cgroups.ts';
import type { CgroupBase } from './cgroups.ts';
import { probeCgroups } from './cgroup-probe.ts';
import { LevelSandbox, scopeOf } from './level-sandbox.ts';
import type { IsolationLevel } from './level-sandbox.ts';
import type { Networks } from '../networks/networks.ts';
import { probeNetworks } from '../networks/probe-networks.ts';
import type { SandboxPrograms } from './plan.ts';
import { findPrograms } from './programs.ts';
import type { Sandbox, SandboxLevel } from './sandbox.ts';
import { seccompFilter } from './seccomp/filter.ts';
import { systemView } from './system-view.ts';
import { Tenants, uidRange } from './tenants.ts';
import type { UidRange } from './tenants.ts';
import { tryRoot, tryLevel } from './try-level.ts';

interface ProbeOptions {
  /** Where the sandbox keeps its notes: uids of tenants, exit codes. */
  readonly stateDir: string;
  /** TANCHO_HOME: hidden from every process but for its binds. */
  readonly home: string;
  readonly level: SandboxLevel | 'auto';
  /** Whether processes get networks of their own; absent: where this machine has them. */
  readonly network?: NetworkChoice;
  /** What another process of this home has found since the machine was started is taken as it is: trials take their time. */
  readonly asBefore?: boolean;
  /** Called once the level is settled, before networks and root file systems are tried. */
  readonly onLevel?: (level: SandboxLevel) => void;
  /** User ids for tenants; default: chosen from those this machine leaves free. */
  readonly uidRange?: UidRange;
  /** Hears what of earlier processes cannot be cleared away. */
  readonly logger?: Logger;
}

interface NetworkChoice {
  /** `auto`: where this machine has them. */
  readonly mode: 'auto' | 'own' | 'shared';
  /** CIDR networks that are open to apps although they are private. */
  readonly allowed: readonly string[];
  /** Reaches units beside the user of this process; null and absent: nobody does. */
  readonly edgeUser?: number | null;
}

/** Tenant of the trial runs. It keeps its uid, so that a restart allots none anew. */
const PROBE_TENANT = ':probe';

/** Throws with one sentence when a demanded level is not there. */
export async function probeSandbox(options: ProbeOptions): Promise<Sandbox> {
  const isRoot = process.getuid?.() === 0;
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  chmodSync(options.stateDir, 0o700);
  const programs = findPrograms();
  const { cgroups, why } = isRoot || options.level !== 'plain' ? await knownCgroups(options.stateDir) : NO_GROUPS;
  const reasons: string[] = [];
  const known = options.asBefore === true ? readFound(options.stateDir) : null;
  const wanted = known?.level ?? options.level;
  const levels: SandboxLevel[] = wanted === 'auto' ? ['bubblewrap', 'user', 'plain'] : [wanted];
  for (const level of levels) {
    const isolation = prepareLevel(level, options, programs, isRoot);
    const trial = async (): Promise<string | null> =>
      typeof isolation === 'string' ? isolation : attempt(isolation, options, cgroups);
    const problem = known === null || typeof isolation === 'string' ? await trial() : null;
    if (typeof isolation !== 'string' && problem === null) {
      options.onLevel?.(level);
      // At once, for both mostly wait for the kernel.
      const rest = [
        known === null ? attemptRoot(isolation, options, cgroups) : Promise.resolve(known.noRoots),
        attemptNetworks(isolation, options, known?.hasNetworks ?? false),
      ] as const;
      await Promise.allSettled(rest);
      const [noRoots, networks] = await Promise.all(rest);
      if (known === null) noteFound(options.stateDir, { level, noRoots, hasNetworks: typeof networks !== 'string' });
      const description = describe(isolation, { cgroups, why, noRoots, networks }, reasons);
      const found = { networks: typeof networks === 'string' ? null : networks, roots: noRoots === null };
      const sandbox = new LevelSandbox({ isolation, cgroups, stateDir: options.stateDir, description, ...found });
      await sandbox.sweep(options.logger ?? SILENT);
      return sandbox;
    }
    reasons.push(`${level} is not available: ${problem}`);
  }
  throw new IsolationUnavailable(`Isolation level "${options.level}" was asked for, but ${reasons.join('; ')}.`);
}

/** This machine does not have the level that was demanded. */
export class IsolationUnavailable extends Error {
  override readonly name = 'IsolationUnavailable';
  readonly hint: string;

  constructor(message: string, hint = 'Choose another with TANCHO_ISOLATION; auto takes the strongest there is.') {
    super(message);
    this.hint = hint;
  }
}

interface FoundLevel {
  readonly level: SandboxLevel;
  /** Why processes cannot have a root file system of their own; '' where that is plain from the level. */
  readonly noRoots: string | null;
  /** Of their own. Absent in what an older program has noted. */
  readonly hasNetworks?: boolean;
}

function noteFound(stateDir: string, found: FoundLevel): void {
  writeFileSync(join(stateDir, 'found.json'), JSON.stringify({ ...found, boot: bootId() }), { mode: 0o600 });
}

/** Null where nothing was found since the machine was started. */
function readFound(stateDir: string): FoundLevel | null {
  try {
    const found = JSON.parse(readFileSync(join(stateDir, 'found.json'), 'utf8')) as FoundLevel & { boot: string };
    return found.boot === bootId() ? found : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

const NO_GROUPS = { cgroups: null, why: 'control groups are used by root only' };

/** Groups of an earlier run may lie elsewhere when the platform itself was moved to another group since. */
async function knownCgroups(stateDir: string): Promise<{ cgroups: Cgroups | null; why: string }> {
  const path = join(stateDir, 'cgroups.json');
  const found = await probeCgroups();
  let earlier: CgroupBase[] = [];
  try {
    earlier = JSON.parse(readFileSync(path, 'utf8')) as CgroupBase[];
  } catch (error) {
    // Cut short by a loss of power, after which no process of an earlier run lives either.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
  }
  if (found.cgroups === null) return found;
  const cgroups = new Cgroups(found.cgroups.bases, earlier);
  writeFileSync(path, JSON.stringify(cgroups.bases), { mode: 0o600 });
  return { cgroups, why: '' };
}

/** What the level needs, or why it cannot be had. */
function prepareLevel(
  level: SandboxLevel,
  options: ProbeOptions,
  programs: SandboxPrograms,
  isRoot: boolean,
): IsolationLevel | string {
  if (level === 'plain') return { level, programs, tenants: null, system: null };
  if (level === 'bubblewrap' && programs.bwrap === null)
    return 'bwrap was not found (install the package "bubblewrap")';
  if (level === 'user' && !isRoot) return 'it needs root';
  const system = level === 'bubblewrap' ? systemView(options.home) : null;
  if (!isRoot) return { level, programs, tenants: null, system };
  if (programs.setpriv === null || programs.env === null)
    return 'setpriv was not found (install the package "util-linux")';
  const range = options.uidRange ?? uidRange(readFileSync('/proc/self/uid_map', 'utf8'));
  if (range === null) return 'this machine maps no user ids that could be given to apps';
  const first = range.from + (Number.parseInt(scopeOf(options.stateDir), 16) % (range.to - range.from + 1));
  return { level, programs, tenants: new Tenants(options.stateDir, range, first), system };
}

async function attempt(
  isolation: IsolationLevel,
  options: ProbeOptions,
  cgroups: Cgroups | null,
): Promise<string | null> {
  const sandbox = new LevelSandbox({
    isolation,
    cgroups,
    stateDir: options.stateDir,
    description: '',
    roots: false,
    networks: null,
  });
  const directory = mkdtempSync(join(options.home, '.probe-'));
  try {
    return await tryLevel(sandbox, directory, PROBE_TENANT);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Null when processes can have a root file system of their own, else why not; '' where that is plain from the level. */
async function attemptRoot(
  isolation: IsolationLevel,
  options: ProbeOptions,
  cgroups: Cgroups | null,
): Promise<string | null> {
  const { system } = isolation;
  if (system === null) return '';
  const sandbox = new LevelSandbox({
    isolation,
    cgroups,
    stateDir: options.stateDir,
    description: '',
    roots: true,
    networks: null,
  });
  const directory = mkdtempSync(join(options.home, '.probe-'));
  try {
    return await tryRoot(sandbox, join(directory, 'root'), PROBE_TENANT, system);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The networks, or why there are none. */
async function attemptNetworks(
  isolation: IsolationLevel,
  options: ProbeOptions,
  areProven: boolean,
): Promise<Networks | string> {
  const { mode, allowed, edgeUser = null } = options.network ?? { mode: 'auto', allowed: [] };
  if (mode === 'shared') return 'it is set so';
  const { stateDir } = options;
  const found =
    isolation.level === 'plain'
      ? 'the level plain isolates nothing'
      : await probeNetworks({ stateDir, scope: scopeOf(stateDir), allowed, edgeUser, areProven });
  if (typeof found !== 'string' || mode === 'auto') return found;
  throw new IsolationUnavailable(
    `Networks of their own were asked for, but ${found}.`,
    'Choose another with TANCHO_NETWORK; auto takes them where this machine has them.',
  );
}

interface Found {
  readonly networks: Networks | string;
  readonly cgroups: Cgroups | null;
  /** Why there are no limits. */
  readonly why: string;
  readonly noRoots: string | null;
}

function describe(
  isolation: IsolationLevel,
  { cgroups, why, noRoots, networks }: Found,
  reasons: readonly string[],
): string {
  const parts = [ISOLATION[isolation.level]];
  if (isolation.tenants !== null) parts.push('one system user per app');
  else parts.push(`apps run as the platform's own user${process.getuid?.() === 0 ? ' (root!)' : ''}`);
  const limits = (['memory', 'cpu', 'pids'] as const).filter((name) => cgroups?.has(name));
  if (cgroups === null || limits.length === 0) parts.push(`no kernel limits: ${why}`);
  else parts.push(`limits by control groups v${cgroups.version}: ${limits.join(', ')}`);
  if (typeof networks !== 'string') parts.push(networks.isOnOwnMachine ? 'networks: own (pasta)' : 'networks: own');
  else if (isolation.level !== 'plain') parts.push(`networks: shared with the machine, for ${networks}`);
  if (isolation.level === 'bubblewrap') {
    parts.push(
      seccompFilter(process.arch) === null ? `no filter of system calls for ${process.arch}` : 'system calls filtered',
    );
  }
  if (noRoots) parts.push(`images do not run: ${noRoots}`);
  return [`${isolation.level}: ${parts.join('; ')}`, ...reasons].join('; ');
}

const ISOLATION: Readonly<Record<SandboxLevel, string>> = {
  bubblewrap: 'own view of files and processes',
  user: 'no namespaces',
  plain: 'no isolation between apps',
};
