/** Pure: which argv and environment a request becomes at each level. Nothing here touches the machine. */
import { SANDBOX_MARK } from './processes.ts';
import type { SandboxRequest } from './sandbox.ts';

/** Absolute paths of the programs a level is made of; null: not on this machine. */
export interface Programs {
  readonly bwrap: string | null;
  readonly setpriv: string | null;
  readonly prlimit: string | null;
  readonly env: string | null;
}

/** What of the machine every sandbox sees, read-only. */
export interface SystemView {
  readonly directories: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

export interface Plan {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface BubblewrapFacts {
  readonly programs: Programs;
  readonly system: SystemView;
  /** Null: the process keeps the uid of whoever runs the platform. */
  readonly uid: number | null;
  readonly fds: { readonly info: number; readonly status: number; readonly block: number };
}

const TMPFS_BYTES = 512 * 1024 * 1024;
/** Stops a fork bomb where there is no pids cgroup. Counts per uid, so it is far above what one unit needs. */
const PROCESSES_PER_UID = 4096;

/**
 * Variables by which a program's loader and C library can be made to run foreign code. The wrapper programs run with
 * privileges or outside of the sandbox, so these must reach only the app itself. The list is what a C library drops for set-uid programs.
 */
const LOADER_VARIABLE =
  /^(?:LD_.*|MALLOC_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MUSL_LOCPATH|NIS_PATH|NLSPATH|RESOLV_HOST_CONF|RES_OPTIONS|TZDIR)$/;

export function planBubblewrap(request: SandboxRequest, facts: BubblewrapFacts): Plan {
  const { programs, system, uid, fds } = facts;
  const args = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--new-session'];
  if (request.dieWithParent) args.push('--die-with-parent');
  for (const directory of system.directories) args.push('--ro-bind', directory, directory);
  for (const link of system.links) args.push('--symlink', link.target, link.path);
  args.push('--proc', '/proc', '--dev', '/dev');
  for (const path of ['/tmp', '/dev/shm']) args.push('--perms', '1777', '--size', `${TMPFS_BYTES}`, '--tmpfs', path);
  args.push(...bindArguments(request.binds));
  if (uid !== null) {
    args.push('--cap-drop', 'ALL');
    for (const capability of ['SETUID', 'SETGID', 'SETPCAP', 'DAC_READ_SEARCH']) {
      args.push('--cap-add', `CAP_${capability}`);
    }
  }
  args.push('--chdir', request.cwd);
  const { early, late } = splitEnvironment(request.env);
  // bubblewrap reads its own environment outside of the sandbox that it makes.
  if (uid === null) for (const [name, value] of late) args.push('--setenv', name, value);
  const inner =
    uid === null ? { argv: [...limited(programs), ...request.argv], env: early } : asUser(request, programs, uid);
  args.push('--info-fd', `${fds.info}`, '--json-status-fd', `${fds.status}`, '--block-fd', `${fds.block}`, '--');
  return { file: required(programs.bwrap), args: [...args, ...inner.argv], env: marked(inner.env, request.id) };
}

export function planUser(request: SandboxRequest, programs: Programs, uid: number): Plan {
  const { argv, env } = asUser(request, programs, uid);
  return { file: argv[0] ?? '', args: argv.slice(1), env: marked(env, request.id) };
}

export function planPlain(request: SandboxRequest, programs: Programs): Plan {
  const prefix =
    request.dieWithParent && programs.setpriv !== null ? [programs.setpriv, '--pdeathsig', 'KILL', '--'] : [];
  const [file = '', ...args] = [...prefix, ...request.argv];
  return { file, args, env: marked(request.env, request.id) };
}

/** The request's argv behind the programs that become the uid and give up every privilege. */
function asUser(request: SandboxRequest, programs: Programs, uid: number): Pick<SandboxRequest, 'argv' | 'env'> {
  const argv = limited(programs);
  argv.push(required(programs.setpriv), `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs');
  argv.push('--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all');
  if (request.dieWithParent) argv.push('--pdeathsig', 'KILL');
  argv.push('--');
  const { early, late } = splitEnvironment(request.env);
  if (late.length > 0) argv.push(required(programs.env), ...late.map(([name, value]) => `${name}=${value}`));
  return { argv: [...argv, ...request.argv], env: early };
}

function limited({ prlimit }: Programs): string[] {
  return prlimit === null ? [] : [prlimit, '--core=0', `--nproc=${PROCESSES_PER_UID}`, '--'];
}

/** What the wrapper programs may have, and what only the app itself gets. */
function splitEnvironment(env: SandboxRequest['env']): { early: Record<string, string>; late: [string, string][] } {
  const all = Object.entries(env);
  return {
    // Not by assignment, which a variable named __proto__ would not survive.
    early: Object.fromEntries(all.filter(([name]) => !LOADER_VARIABLE.test(name))),
    late: all.filter(([name]) => LOADER_VARIABLE.test(name)),
  };
}

/** Parents first, so that a bind inside another stays visible; made by hand because bubblewrap would make them unreadable. */
function bindArguments(binds: SandboxRequest['binds']): string[] {
  const args: string[] = [];
  const made = new Set(['/']);
  const sorted = [...binds].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const { path, writable } of sorted) {
    for (const parent of parentsOf(path)) {
      if (made.has(parent)) continue;
      made.add(parent);
      args.push('--perms', '0755', '--dir', parent);
    }
    args.push(writable ? '--bind' : '--ro-bind', path, path);
  }
  return args;
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

function marked(env: Readonly<Record<string, string>>, id: string): Record<string, string> {
  return { ...env, [SANDBOX_MARK]: id };
}

function required(program: string | null): string {
  if (program === null) throw new Error('A program this isolation level is made of is missing.');
  return program;
}
