/** Starts a planned process: opens the extra descriptors, puts it into its control group, lets it run. */
import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { demandSpawned } from '../lib/demand-spawned.ts';
import type { AccountFiles } from './accounts.ts';
import type { Cgroups } from './cgroups.ts';
import type { Descriptors, LaunchPlan } from './plan.ts';
import {
  allProcesses,
  familyOf,
  isAlive,
  markedProcesses,
  namespacePid,
  readProcess,
  sendSignal,
} from '../lib/processes.ts';
import type { ProcessFacts } from '../lib/processes.ts';
import type { SandboxProcess, SandboxRequest } from './sandbox.ts';

export type Launched = Omit<SandboxProcess, 'address' | 'door'>;

const START_DEADLINE_MS = 60_000;
const MESSAGE_DEADLINE_MS = 5000;
const FIRST_CHILD = 2;
const GONE = { pid: 0, start: '' };

type StdioList = Exclude<StdioOptions, string>;

function stdioList(stdio: StdioOptions): StdioList {
  return typeof stdio === 'string' ? [stdio, stdio, stdio] : [...stdio];
}

/** For levels without a namespace: the child is root and main process in one. */
export async function launchDirect(
  request: SandboxRequest,
  plan: LaunchPlan,
  cgroups: Cgroups | null,
): Promise<Launched> {
  const { file, args, env } = plan;
  const child = demandSpawned(spawn(file, args, { cwd: request.cwd, env, stdio: request.stdio, detached: true }));
  const pid = child.pid;
  if (pid !== undefined && cgroups !== null) joinWithChildren(cgroups, request.id, pid);
  await started(child);
  const facts = pid === undefined ? null : readProcess(pid);
  const root = { pid: pid ?? 0, start: facts?.start ?? '' };
  return { child, rootPid: root.pid, rootStart: root.start, main: Promise.resolve(root) };
}

/** In the same turn as the spawn; what the process has forked until then comes along, until nothing is left outside. */
function joinWithChildren(cgroups: Cgroups, id: string, pid: number): void {
  joinOne(cgroups, id, pid);
  for (let round = 0; round < 20; round += 1) {
    const inside = new Set(cgroups.pids(id));
    const younger = allProcesses(pid - 1);
    const own = new Set([...familyOf(pid, younger), ...markedProcesses(id, younger)]);
    const outside = younger.filter((facts) => !facts.zombie && own.has(facts.pid) && !inside.has(facts.pid));
    if (outside.length === 0) return;
    joinAll(
      cgroups,
      id,
      outside.map((facts) => facts.pid),
    );
  }
}

/** Those that have ended meanwhile are left out. */
export function joinAll(cgroups: Cgroups, id: string, pids: readonly number[]): void {
  for (const pid of pids) joinOne(cgroups, id, pid);
}

function joinOne(cgroups: Cgroups, id: string, pid: number): void {
  try {
    cgroups.join(id, pid);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

interface BubblewrapLaunch {
  readonly request: SandboxRequest;
  /** File that gets bubblewrap's own account, so that the exit code is known even if the platform is away at that time. */
  readonly statusFile: string;
  readonly cgroups: Cgroups | null;
  /** What the process waits for, while everything around it is made. */
  readonly before: Promise<void> | null;
  /** Its map of users, for a process that is root of its own: lines of inside, outside, count; null for others. */
  readonly users: string | null;
  /** File with the filter of system calls; null for what makes mounts and namespaces itself, and where there is none. */
  readonly filterFile: string | null;
  /** The users and groups that the process finds; null where it has a root of its own. */
  readonly accounts: AccountFiles | null;
  readonly plan: (fds: Descriptors) => LaunchPlan;
}

/** Waits until the namespace's init exists, puts it into the control group, then lets it start the process. */
export async function launchBubblewrap(launch: BubblewrapLaunch): Promise<Launched> {
  const { request, cgroups } = launch;
  const stdio = stdioList(request.stdio);
  while (stdio.length < 3) stdio.push('ignore');
  const [info, status, block] = [stdio.length, stdio.length + 1, stdio.length + 2];
  const next = block + 1;
  const users = launch.users === null ? [] : (['pipe'] as const);
  const filter = launch.filterFile === null ? null : next + users.length;
  const names = next + users.length + (filter === null ? 0 : 1);
  const accounts = launch.accounts === null ? null : { passwd: names, group: names + 1 };
  const fds = { info, status, block, users: next, filter, accounts };
  const plan = launch.plan(fds);
  const files = [openSync(launch.statusFile, 'w', 0o600)];
  let child: ChildProcess;
  try {
    if (launch.filterFile !== null) files.push(openSync(launch.filterFile, 'r'));
    const { passwd, group } = launch.accounts ?? {};
    for (const text of [passwd, group])
      if (text !== undefined) files.push(readFrom(text, `${launch.statusFile}.names`));
    const [account = 0, ...others] = files;
    const extra: StdioList = ['pipe', account, 'pipe', ...users, ...others];
    const options = { env: plan.env, stdio: [...stdio, ...extra], detached: true };
    child = demandSpawned(spawn(plan.file, plan.args, options));
  } finally {
    for (const file of files) closeSync(file);
  }
  const infoPipe = child.stdio[info] as Socket;
  const blockPipe = child.stdio[block] as Socket;
  blockPipe.on('error', () => undefined);
  const errors = child.stderr === null ? null : readAhead(child.stderr);
  let rootPid = 0;
  try {
    await started(child);
    rootPid = await initPid(infoPipe);
    const rootStart = readProcess(rootPid)?.start ?? '';
    if (cgroups !== null) joinOne(cgroups, request.id, rootPid);
    if (launch.users !== null) {
      const mapping = mapUsers(rootPid, launch.users, child.stdio[fds.users] as Socket);
      await mapping.catch((error: unknown) => {
        throw isAlive(rootPid, rootStart) ? error : new EndedEarly();
      });
    }
    await launch.before;
    if (child.exitCode !== null || errors?.atEnd() === true) throw new EndedEarly();
    errors?.giveBack();
    const main = release(blockPipe, { pid: rootPid, start: rootStart }, membersOf(request.id, cgroups));
    // Not everybody waits for it.
    main.catch(() => undefined);
    return { child, rootPid, rootStart, main };
  } catch (error) {
    // The init first: the end of our descriptor would let it go on.
    if (rootPid > 0) sendSignal(rootPid, 'SIGKILL');
    child.kill('SIGKILL');
    blockPipe.destroy();
    throw error instanceof EndedEarly ? new EndedEarly(await errors?.all()) : error;
  } finally {
    infoPipe.destroy();
  }
}

/** Bubblewrap ended before there was a process to let go on. */
class EndedEarly extends Error {
  override readonly name = 'EndedEarly';

  constructor(errors = '') {
    super(`Bubblewrap ended before the process began: ${errors || 'it wrote why to the error output.'}`);
  }
}

interface ReadAhead {
  readonly atEnd: () => boolean;
  /** Waits for the end of the output, for a while. */
  readonly all: () => Promise<string>;
  /** To whoever reads the stream later; it is as if nobody had. */
  readonly giveBack: () => void;
}

/** What bubblewrap itself writes to the error output. */
function readAhead(stream: Readable): ReadAhead {
  const parts: Buffer[] = [];
  // Not `data`: a stream that was once flowing does not start by itself again.
  const read = (): void => {
    for (let bytes: unknown; (bytes = stream.read()) !== null;) parts.push(bytes as Buffer);
  };
  stream.on('readable', read);
  return {
    atEnd: () => stream.readableEnded,
    all: async () => {
      const signal = AbortSignal.timeout(MESSAGE_DEADLINE_MS);
      if (!stream.readableEnded) await once(stream, 'end', { signal }).catch(() => undefined);
      return Buffer.concat(parts).toString().trim();
    },
    giveBack: () => {
      stream.off('readable', read);
      if (parts.length > 0) stream.unshift(Buffer.concat(parts));
    },
  };
}

/** A descriptor from which the text is read, of a file that is nowhere any more. */
function readFrom(text: string, path: string): number {
  const file = openSync(path, 'w+', 0o600);
  unlinkSync(path);
  // At a position, so that whoever reads begins at the beginning.
  writeSync(file, text, 0);
  return file;
}

/** The process waits for its user map before it does anything: until then it has no user. */
async function mapUsers(pid: number, map: string, ready: Socket): Promise<void> {
  ready.on('error', () => undefined);
  for (const name of ['uid_map', 'gid_map']) await writeFile(`/proc/${pid}/${name}`, map);
  ready.end('1');
}

/** In a later turn, so that whoever awaits the spawn has its listeners in place before the process can end. */
async function release(block: Socket, root: MainProcess, members: Members): Promise<MainProcess> {
  await new Promise((resolve) => setImmediate(resolve));
  block.end('1');
  return mainOf(root, members);
}

/** Processes among which the init's children are. */
type Members = (root: number) => ProcessFacts[];

/** Those of its control group: the machine may have thousands. */
function membersOf(id: string, cgroups: Cgroups | null): Members {
  if (cgroups !== null) return () => cgroups.pids(id).flatMap((pid) => readProcess(pid) ?? []);
  return (root) => {
    const younger = allProcesses(root);
    return younger.some(({ parent }) => parent === root) ? younger : allProcesses();
  };
}

async function started(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
}

async function initPid(info: Socket): Promise<number> {
  info.setTimeout(START_DEADLINE_MS, () => info.destroy(new Error('Bubblewrap did not answer in time.')));
  let text = '';
  for await (const bytes of info) text += String(bytes);
  const match = /"child-pid"\s*:\s*(\d+)/.exec(text);
  if (match === null) throw new EndedEarly();
  return Number(match[1]);
}

interface MainProcess {
  readonly pid: number;
  readonly start: string;
}

/** The init's first child, number 2 of its namespace; orphans of a main process that is gone become the init's children too. */
async function mainOf(root: MainProcess, members: Members): Promise<MainProcess> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (isAlive(root.pid, root.start) && Date.now() < deadline) {
    const children = members(root.pid).filter(({ parent }) => parent === root.pid);
    const main = children.find(({ pid }) => namespacePid(pid) === FIRST_CHILD);
    if (main !== undefined) return { pid: main.pid, start: main.start };
    if (children.length > 0) return GONE;
    await delay(1);
  }
  return GONE;
}
