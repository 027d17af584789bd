/**
 * Reads the kernel's process table (/proc). A process is known by its pid and its start time together, never by the pid alone.
 */
import { readFileSync, readdirSync } from 'node:fs';

export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks between boot and the start of the process. */
  readonly start: string;
  /** Dead but not yet collected by its parent. */
  readonly zombie: boolean;
  /** It has no environment yet, being in the middle of execve(2); also one whose memory this process may not look at. */
  readonly isStarting: boolean;
}

/** Environment variable that marks every process of a sandbox; see markedProcesses(). */
export const SANDBOX_MARK = 'TANCHO_SANDBOX';

/** Pure: the text of /proc/<pid>/stat. The command name may itself hold spaces and parentheses. */
export function parseStat(text: string): ProcessFacts | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < 0) return null;
  const fields = text.slice(close + 2).split(' ');
  const pid = Number.parseInt(text.slice(0, open), 10);
  const [state, parent, , session] = fields;
  const threads = Number(fields[17]);
  const [start, memory] = fields.slice(19, 21);
  const environmentEnd = fields[48];
  if (Number.isNaN(pid) || start === undefined) return null;
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    start,
    zombie: (state === 'Z' || state === 'X') && threads <= 1,
    // Of the kernel's own the first is 0, too.
    isStarting: memory !== '0' && environmentEnd === '0',
  };
}

/** What reading a file of a process throws once the process is gone. */
const GONE_CODES: ReadonlySet<unknown> = new Set(['ENOENT', 'ESRCH']);
/** Of processes of others, where the system hides them. */
const HIDDEN_CODES: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM']);

/** Null only when the kernel says that there is no such process. Throws when that cannot be found out, e.g. for want of descriptors. */
export function readProcess(pid: number): ProcessFacts | null {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return text === null ? null : parseStat(text);
}

/** Pure but for `read`: what it reads of a process; null when the process is gone. Throws what else keeps it from being read. */
export function unlessGone<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (GONE_CODES.has((error as NodeJS.ErrnoException).code)) return null;
    throw error;
  }
}

function unlessHidden<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (HIDDEN_CODES.has((error as NodeJS.ErrnoException).code)) return null;
    throw error;
  }
}

/** Throws when it cannot be found out: nobody may be taken for dead because this process has run out of something. */
export function isAlive(pid: number, start: string): boolean {
  if (pid <= 0) return false;
  const found = readProcess(pid);
  return found !== null && found.start === start && !found.zombie;
}

/** Whether any process has this number: true also of a dead one that nobody has collected. Costs a fraction of isAlive(). */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** The number the process has in the innermost pid namespace; null when it is gone. */
export function namespacePid(pid: number): number | null {
  const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1'));
  if (status === null) return null;
  const numbers = /^NSpid:\s*(.*)$/m.exec(status)?.[1] ?? '';
  return Number(numbers.split(/\s+/).at(-1));
}

/** Every process of this machine's (or container's) table; `above` leaves out lower pids. */
export function allProcesses(above = 0): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const pid of pidsAbove(above)) {
    const facts = unlessHidden(() => readProcess(pid));
    if (facts !== null) found.push(facts);
  }
  return found;
}

/** The processes, but for dead ones that nobody has collected, of which this is the real, effective, saved or file system user. */
export function pidsOfUser(uid: number): number[] {
  return pidsAbove(0).filter((pid) => {
    const status = unlessHidden(() => unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1'))) ?? '';
    const users = /^Uid:\s+(.*)$/m.exec(status)?.[1] ?? '';
    return !/^State:\s+Z/m.test(status) && users.split(/\s+/).map(Number).includes(uid);
  });
}

function pidsAbove(above: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > above);
}

/** The root and everything below it. */
export function familyOf(root: number, all: readonly ProcessFacts[]): number[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const family = [root];
  for (const pid of family) family.push(...(children.get(pid) ?? []).map((child) => child.pid));
  return family;
}

/** Processes whose initial environment carries the mark; finds daemons that left their session and parent. */
export function markedProcesses(id: string, all: readonly ProcessFacts[]): number[] {
  const mark = Buffer.from(`${SANDBOX_MARK}=${id}\0`);
  return all.filter(({ pid }) => readEnvironment(pid).includes(mark)).map(({ pid }) => pid);
}

/** Whether any process is just starting a program, whose mark cannot be seen for that moment. */
export function isAnyStarting(all: readonly ProcessFacts[]): boolean {
  const hasNone = (pid: number): boolean =>
    unlessHidden(() => unlessGone(() => readFileSync(`/proc/${pid}/environ`)))?.length === 0;
  return all.some(({ pid, zombie, isStarting }) => isStarting && !zombie && hasNone(pid));
}

/** The id that the process's initial environment carries; null where it carries none. */
export function markOf(pid: number): string | null {
  const entries = readEnvironment(pid).toString('latin1').split('\0');
  return entries.find((entry) => entry.startsWith(`${SANDBOX_MARK}=`))?.slice(SANDBOX_MARK.length + 1) ?? null;
}

function readEnvironment(pid: number): Buffer {
  return unlessHidden(() => unlessGone(() => readFileSync(`/proc/${pid}/environ`))) ?? Buffer.alloc(0);
}

/** Changes with every boot, so a start time of an earlier boot is recognised. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** Ends the process group of this number; one that is gone, or runs as somebody else (sudo), is passed over. */
export function killGroup(pid: number): void {
  unlessHidden(() => sendSignal(-pid, 'SIGKILL'));
}

/** Passes over a process that has ended. A negative number is that of a process group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
