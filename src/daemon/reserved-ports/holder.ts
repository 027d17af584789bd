/**
 * The two programs by which the ports of this server stay its own while control is away: one holds the sockets, and one gets them for
 * the next control. They are written in perl, which can pass descriptors from one process to another.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../lib/find-program.ts';
import { systemCalls } from '../../sandbox/seccomp/system-calls.ts';

/** A socket that listens. */
export interface HeldPort {
  /** Without spaces and `=`. */
  readonly label: string;
  readonly descriptor: number;
}

interface HolderPlaces {
  /** Where it hands them over. */
  readonly socket: string;
  /** Pid file of control. */
  readonly control: string;
}

/** Their contracts are written in them. */
const HOLDER = 'hold-ports.pl';
const RECEIVER = 'receive-ports.pl';

/** A control that lives hands over nothing; nobody is asked then. */
const HANDED_OVER_WITHIN_SECONDS = 5;

/** Its input is to end with this process, and it prints a line once it holds them. Throws Error where this machine lacks perl, or is no Linux. */
export function startHolder(
  ports: readonly HeldPort[],
  { socket, control }: HolderPlaces,
  errors: number,
): ChildProcess {
  const program = commandOf(HOLDER, 'sendmsg');
  if (program === null) throw new Error('it takes perl, on Linux');
  const [perl = '', ...words] = program;
  return spawn(perl, [...words, socket, control, ...ports.map(({ label }) => label)], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', errors, ...ports.map(({ descriptor }) => descriptor)],
  });
}

/** To be put before a command, which is then started with the ports and the connection as descriptors. Null: this machine lacks perl, or is no Linux. */
export function receiver(socket: string, variable: string): readonly string[] | null {
  const program = commandOf(RECEIVER, 'recvmsg');
  return program === null ? null : [...program, socket, `${HANDED_OVER_WITHIN_SECONDS}`, variable];
}

function commandOf(program: string, call: string): readonly string[] | null {
  const perl = findProgram('perl');
  if (perl === null || process.platform !== 'linux') return null;
  const number = systemCalls(process.arch === 'arm64' ? 'arm64' : 'x64').get(call);
  const file = fileURLToPath(new URL(`../../../bin/${program}`, import.meta.url));
  return number === undefined ? null : [perl, file, `${number}`];
}
