/** Pure: which argv and environment a request becomes at each level. Nothing here touches the machine. */
import { join } from 'node:path';
import { SANDBOX_MARK } from '../lib/processes.ts';
import type { EnteredNetwork } from '../networks/networks.ts';
import type { RootEntry } from './root-entries.ts';
import type { SandboxRequest, SandboxRoot } from './sandbox.ts';

/** Absolute paths of the programs a level is made of; null: not on this machine. */
export interface SandboxPrograms {
  readonly bwrap: string | null;
  readonly setpriv: string | null;
  readonly prlimit: string | null;
  readonly env: string | null;
  readonly nsenter: string | null;
}

/** What of the machine every sandbox sees, read-only. */
export interface SystemView {
  readonly directories: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Of /proc what cannot be read. */
  readonly masked: readonly { readonly path: string; readonly isDirectory: boolean }[];
}

export interface LaunchPlan {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Descriptors {
  readonly info: number;
  readonly status: number;
  readonly block: number;
  /** Of a launch with users of its own. */
  readonly users: number;
  /** Where the filter of system calls is read from; null: all that the kernel has. */
  readonly filter: number | null;
  /** Where the users and groups that the process finds are read from; null: they are those of its root. */
  readonly accounts: { readonly passwd: number; readonly group: number } | null;
}

export interface BubblewrapFacts {
  readonly programs: SandboxPrograms;
  readonly system: SystemView;
  /** Null: the process keeps the uid of whoever runs the platform. */
  readonly uid: number | null;
  /** Who it is to itself, in a user namespace of its own; null: that is for the machine to say. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** Of the request's root. */
  readonly entries?: readonly RootEntry[];
  readonly fds: Descriptors;
}

export const TMPFS_BYTES = 512 * 1024 * 1024;
const NO_CAPABILITIES = ['--cap-drop', 'ALL'];
/** Those by which a program becomes a tenant and enters what is the tenant's. */
export const KEPT_CAPABILITIES = [
  ...NO_CAPABILITIES,
  ...['SETUID', 'SETGID', 'SETPCAP', 'DAC_READ_SEARCH'].flatMap((name) => ['--cap-add', `CAP_${name}`]),
];
/** Where a tenant finds what lies in directories that it may not enter. */
export const WITHIN_REACH = '/.sandbox';
/** Stops a fork bomb where there is no pids cgroup. Counts per uid, so it is far above what one unit needs. */
const PROCESSES_PER_UID = 4096;

/**
 * Variables by which a program's loader and C library can be made to run foreign code. The wrapper programs run with
 * privileges or outside of the sandbox, so these must reach only the app itself. The list is what a C library drops for set-uid programs.
 */
const LOADER_VARIABLE =
  /^(?:LD_.*|MALLOC_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MUSL_LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR)$/;

export function planBubblewrap(request: SandboxRequest, facts: BubblewrapFacts): LaunchPlan {
  if (request.root !== undefined) return planRoot(request, request.root, facts);
  const { programs, system, uid, user, fds } = facts;
  const own =
    user === null ? [] : ['--unshare-user', '--uid', `${user.uid}`, '--gid', `${user.gid}`, ...NO_CAPABILITIES];
  const args = [...namespaces(request), ...own, ...kernelArguments(system)];
  // Before what is shown of the machine, which may lie below /tmp.
  for (const path of ['/tmp', '/dev/shm']) args.push('--perms', '1777', '--size', `${TMPFS_BYTES}`, '--tmpfs', path);
  args.push(...systemArguments(system, fds.accounts), ...bindArguments(request.binds));
  if (uid !== null) args.push(...KEPT_CAPABILITIES);
  args.push('--chdir', request.cwd);
  const { early, late } = splitEnvironment(request.env);
  // bubblewrap reads its own environment outside of the sandbox that it makes.
  if (uid === null) args.push(...assigned(late));
  const inner =
    uid === null ? { argv: [...limited(programs), ...request.argv], env: early } : asUser(request, programs, uid);
  args.push(...descriptors(fds), '--');
  return { file: required(programs.bwrap), args: [...args, ...inner.argv], env: marked(inner.env, request.id) };
}

/**
 * Nothing is mounted by a privileged program below what the tenant may change, for a link there would lead it astray: that is done
 * as the tenant, which a user namespace makes possible. What the tenant cannot reach by itself is put before it first.
 */
function planRoot(request: SandboxRequest, root: SandboxRoot, facts: BubblewrapFacts): LaunchPlan {
  const { programs, uid } = facts;
  const { early } = splitEnvironment(request.env);
  if (uid === null) {
    const args = rootArguments(request, root, facts);
    return { file: required(programs.bwrap), args, env: marked(early, request.id) };
  }
  const near = { ...root, directory: join(WITHIN_REACH, 'root') };
  const binds = request.binds.map((bind, index) => {
    return { ...bind, path: join(WITHIN_REACH, `${index}`), at: bind.at ?? bind.path };
  });
  const inner = [required(programs.bwrap), ...rootArguments({ ...request, binds }, near, facts)];
  const moved = [
    { path: root.directory, writable: root.isShared !== true, at: near.directory },
    ...request.binds.flatMap(({ path, writable, isEmpty }, index) =>
      isEmpty === true ? [] : [{ path, writable, at: binds[index]?.path ?? path }],
    ),
  ];
  const { argv, env } = asUser({ ...request, argv: inner, env: early }, programs, uid);
  const args = [...systemArguments(facts.system), '--bind', '/proc', '/proc', '--dev-bind', '/dev', '/dev'];
  // Where bubblewrap itself puts a root together.
  args.push('--perms', '0755', '--dir', '/tmp', ...bindArguments(moved), ...KEPT_CAPABILITIES, '--chdir', '/');
  if (request.dieWithParent) args.push('--die-with-parent');
  return { file: required(programs.bwrap), args: [...args, '--', ...argv], env: marked(env, request.id) };
}

function rootArguments(
  request: SandboxRequest,
  root: SandboxRoot,
  { fds, system, user, entries = [] }: BubblewrapFacts,
): string[] {
  const args = [...namespaces(request), '--unshare-user', '--uid', `${root.uid}`, '--gid', `${root.gid}`];
  if (user !== null) args.push(...NO_CAPABILITIES);
  const emptied = request.binds.flatMap(({ path, at = path, isEmpty }) => (isEmpty === true ? [at] : []));
  const isInside = (at: string): boolean => emptied.some((place) => at === place || at.startsWith(`${place}/`));
  const covering = request.binds.filter(({ within, path, at = path }) => within !== true && !isInside(at));
  const covered = new Set(['proc', 'dev', ...covering.map(({ path, at = path }) => at.split('/')[1])]);
  for (const { name, target } of entries.filter((entry) => !covered.has(entry.name))) {
    if (target === null)
      args.push(root.isShared === true ? '--ro-bind' : '--bind', join(root.directory, name), `/${name}`);
    else args.push('--symlink', target, `/${name}`);
  }
  args.push(...kernelArguments(system));
  args.push('--perms', '1777', '--size', `${TMPFS_BYTES}`, '--tmpfs', '/dev/shm', ...bindArguments(request.binds));
  args.push(
    ...['/', ...emptied].flatMap((place) => ['--remount-ro', place]),
    '--chdir',
    request.cwd,
    ...assigned(splitEnvironment(request.env).late),
  );
  return [...args, ...descriptors(fds), '--', ...request.argv];
}

export function systemArguments(
  { directories, links }: SystemView,
  accounts: Descriptors['accounts'] = null,
): string[] {
  const names = accounts === null ? [] : Object.entries(accounts);
  return [
    ...['--perms', '0755', '--tmpfs', '/etc'],
    ...bindArguments(directories.map((path) => ({ path, writable: false }))),
    ...links.flatMap((link) => ['--symlink', link.target, link.path]),
    ...names.flatMap(([name, fd]) => ['--perms', '0644', '--file', `${fd}`, `/etc/${name}`]),
    ...['--remount-ro', '/etc'],
  ];
}

/** Its own processes and the usual devices. */
function kernelArguments({ masked }: SystemView): string[] {
  const covers = masked.flatMap(({ path, isDirectory }) =>
    isDirectory ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path],
  );
  return ['--proc', '/proc', '--dev', '/dev', ...covers];
}

export function assigned(late: readonly (readonly [string, string])[]): string[] {
  return late.flatMap(([name, value]) => ['--setenv', name, value]);
}

export function namespaces({ dieWithParent }: SandboxRequest): string[] {
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--new-session'];
  return dieWithParent ? [...args, '--die-with-parent'] : args;
}

export function descriptors({ info, status, block, filter }: Descriptors): string[] {
  const filtered = filter === null ? [] : ['--seccomp', `${filter}`];
  return ['--info-fd', `${info}`, '--json-status-fd', `${status}`, '--block-fd', `${block}`, ...filtered];
}

export function planUser(request: SandboxRequest, programs: SandboxPrograms, uid: number): LaunchPlan {
  const { argv, env } = asUser(request, programs, uid);
  return { file: argv[0] ?? '', args: argv.slice(1), env: marked(env, request.id) };
}

export function planPlain(request: SandboxRequest, programs: SandboxPrograms): LaunchPlan {
  const prefix =
    request.dieWithParent && programs.setpriv !== null ? [programs.setpriv, '--pdeathsig', 'KILL', '--'] : [];
  const [file = '', ...args] = [...prefix, ...request.argv];
  return { file, args, env: marked(request.env, request.id) };
}

/** The same in a network. */
export function inNetwork(
  plan: LaunchPlan,
  { path, userNamespace }: Pick<EnteredNetwork, 'path' | 'userNamespace'>,
  { nsenter }: SandboxPrograms,
): LaunchPlan {
  const first = userNamespace === null ? [] : ['--preserve-credentials', `--user=${userNamespace}`];
  return { ...plan, file: required(nsenter), args: [...first, `--net=${path}`, '--', plan.file, ...plan.args] };
}

/** The request's argv behind the programs that become the uid and give up every privilege. */
export function asUser(
  request: SandboxRequest,
  programs: SandboxPrograms,
  uid: number,
): Pick<SandboxRequest, 'argv' | 'env'> {
  const argv = limited(programs);
  argv.push(required(programs.setpriv), `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs');
  argv.push('--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all');
  if (request.dieWithParent) argv.push('--pdeathsig', 'KILL');
  argv.push('--');
  const { early, late } = splitEnvironment(request.env);
  if (late.length > 0) argv.push(required(programs.env), ...late.map(([name, value]) => `${name}=${value}`));
  return { argv: [...argv, ...request.argv], env: early };
}

function limited({ prlimit }: SandboxPrograms): string[] {
  return prlimit === null ? [] : [prlimit, '--core=0', `--nproc=${PROCESSES_PER_UID}`, '--'];
}

/** What the wrapper programs may have, and what only the app itself gets. */
export function splitEnvironment(env: SandboxRequest['env']): {
  early: Record<string, string>;
  late: [string, string][];
} {
  const all = Object.entries(env);
  return {
    // Not by assignment, which a variable named __proto__ would not survive.
    early: Object.fromEntries(all.filter(([name]) => !LOADER_VARIABLE.test(name))),
    late: all.filter(([name]) => LOADER_VARIABLE.test(name)),
  };
}

/** Parents first, so that a bind inside another stays visible; made by hand because bubblewrap would make them unreadable. */
export function bindArguments(binds: SandboxRequest['binds']): string[] {
  const args: string[] = [];
  const made = new Set(['/']);
  const places = binds.map(({ path, writable, at = path, isEmpty }) => ({ path, writable, at, isEmpty }));
  for (const { path, writable, at, isEmpty } of places.sort((a, b) => (a.at < b.at ? -1 : 1))) {
    for (const parent of parentsOf(at)) {
      if (made.has(parent)) continue;
      made.add(parent);
      args.push('--perms', '0755', '--dir', parent);
    }
    if (isEmpty === true) args.push('--perms', '0711', '--tmpfs', at);
    else args.push(writable ? '--bind' : '--ro-bind', path, at);
  }
  return args;
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

export function marked(env: Readonly<Record<string, string>>, id: string): Record<string, string> {
  return { ...env, [SANDBOX_MARK]: id };
}

export function required(program: string | null): string {
  if (program === null) throw new Error('A program this isolation level is made of is missing.');
  return program;
}
