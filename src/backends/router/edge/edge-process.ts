import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, readdir, rm, stat, truncate } from 'node:fs/promises';
import type { Server } from 'node:net';
import { join, sep } from 'node:path';
import { PlatformError } from '../../../domain/errors.ts';
import { descriptorOf } from '../../../lib/listening.ts';
import { findProgram } from '../../../lib/find-program.ts';
import { keepProgram, readProgram } from '../../../lib/program-files.ts';
import { allProcesses, isAlive, readProcess, unlessGone } from '../../../lib/processes.ts';
import { everyRunDir, giveOwnPlaces, ownStateDirs, type Places, placesOf } from './edge-places.ts';
import { boundFor, boundPort, doorsOf, type BoundPorts } from './edge-doors.ts';
import type { EdgeProcessOptions } from './edge-options.ts';
import type { OwnView } from '../../../lib/own-view.ts';
import { seccompFilter } from '../../../sandbox/seccomp/filter.ts';
import { ofEdge } from '../../../sandbox/seccomp/own-filters.ts';
import { underFilter } from '../../../sandbox/seccomp/under-filter.ts';
import { apart, viewOf } from './edge-view.ts';

const MAX_LOG_BYTES = 1_048_576;
const POLL_MS = 10;
/** sun_path is 108 bytes on Linux, 104 elsewhere. */
const MAX_SOCKET_PATH = 103;
/** For the workers of an edge that was killed, which end a little later. */
const RELEASE_MS = 5_000;
/** Below the program's directory. */
const ENTRY = ['edge', 'main.js'] as const;
const KEEPER_ENTRY = ['keeper', 'main.js'] as const;
/** Of the options of an edge with a filter of system calls, which all that it starts have, too. */
const FILTERED = '"isFiltered":true';

interface Paths {
  readonly socket: string;
  readonly pid: string;
  readonly log: string;
}

export function pathsOf(options: EdgeProcessOptions): Paths {
  const { runDir } = placesOf(options);
  return { socket: join(runDir, 'edge.sock'), pid: join(runDir, 'edge.pid'), log: join(options.stateDir, 'edge.log') };
}

/** Makes the directories; throws `config.invalid` when the control socket's path would be too long for the system. */
export async function prepareDirectories(options: EdgeProcessOptions): Promise<void> {
  const { socket } = pathsOf(options);
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH) {
    throw new PlatformError('config.invalid', `The path ${socket} is too long for a socket.`, {
      hint: `Set TANCHO_HOME to a shorter path: at most ${MAX_SOCKET_PATH} bytes are possible.`,
    });
  }
  await mkdir(options.stateDir, { recursive: true, mode: 0o700 });
  await mkdir(options.runDir, { recursive: true, mode: 0o700 });
  await giveOwnPlaces(options);
}

/** The program of an edge, and what distinguishes it from others. */
export interface EdgeProgram {
  /** Changes whenever a running edge should be replaced: other code, other Node, other options. */
  readonly fingerprint: string;
  readonly entry: string;
  /** What runs while control is away. */
  readonly keeperEntry: string;
}

/** The copy that an edge runs from. */
interface CopiedProgram {
  readonly hash: string;
  readonly directory: string;
}

/** Copies the program into the edge's own directory, so that it can start processes of the same build for as long as it runs. */
export async function copyProgram(
  options: Pick<EdgeProcessOptions, 'stateDir' | 'programDir' | 'keeper'>,
): Promise<CopiedProgram> {
  const entries = [ENTRY, ...(options.keeper === undefined ? [] : [KEEPER_ENTRY])];
  const program = await readProgram(
    options.programDir,
    entries.map((entry) => join(options.programDir, ...entry)),
  );
  return { hash: program.hash, directory: await keepProgram(program, programsOf(options)) };
}

export function programOf(options: EdgeProcessOptions, copied: CopiedProgram): EdgeProgram {
  const hash = createHash('sha256').update(copied.hash).update(execPathOf(options)).update(process.version);
  hash.update(JSON.stringify(behaviourOf(options)));
  const [entry, keeperEntry] = [join(copied.directory, ...ENTRY), join(copied.directory, ...KEEPER_ENTRY)];
  return { fingerprint: hash.digest('hex').slice(0, 24), entry, keeperEntry };
}

/** Removes the programs of edges that have ended: those that finish their connections may still load what they need for them. */
export async function removeOtherPrograms(options: EdgeProcessOptions, { entry }: EdgeProgram): Promise<void> {
  const programs = programsOf(options);
  const others = (await readdir(programs))
    .map((name) => join(programs, name))
    .filter((path) => !entry.startsWith(`${path}${sep}`));
  if (others.length === 0) return;
  const commands = await Promise.all(allProcesses().map(({ pid }) => commandLineOf(pid)));
  for (const path of others) {
    const isUsed = commands.some((command) => command.includes(`${path}${sep}`));
    if (!isUsed) await rm(path, { recursive: true, force: true });
  }
}

/** '' without /proc, or where the process has gone meanwhile. */
function commandLineOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

/** All options that an edge goes by, but for where it is. */
function behaviourOf(options: EdgeProcessOptions): object {
  const { workers, stopGraceMs, handoverMs, limits, timeouts } = options;
  const { trustedProxies, proxyProtocol, hstsSeconds, http2, platform } = options;
  const how = { user: options.user ?? null, workers, stopGraceMs, handoverMs, limits, timeouts };
  return { ...how, trustedProxies, proxyProtocol, hstsSeconds, http2, platform };
}

interface EdgeCommand {
  readonly execPath: string;
  readonly args: readonly string[];
}

/** `starter`: process of the one that starts it. What root starts can be shown what others cannot enter; what that starts sees it, too. */
export function commandOf(
  options: EdgeProcessOptions,
  program: EdgeProgram,
  { ports, starter }: { ports: BoundPorts; starter: number },
): EdgeCommand {
  const needed = [options.stateDir, options.runDir, execPathOf(options)];
  const hasUser = typeof options.user === 'number';
  const isOfRoot = (ownerOf(starter) ?? 0) === 0;
  const view = hasUser && isOfRoot ? viewOf(needed) : null;
  // One that stays root starts those that are another user.
  const filter = !hasUser && isOfRoot ? null : filterFor(starter, view);
  const own = filter ?? (hasUser ? gainingNothing() : []);
  const isFiltered = filter !== null;
  const words = [execPathOf(options), ...argumentsOf(options, program, { ports, view, isFiltered })];
  const [execPath = '', ...args] = [...(view === null ? [] : (apart() ?? [])), ...own, ...words];
  return { execPath, args };
}

/** Empty: it has that of the one that starts it, for the kernel takes so many only. Null: there is none. */
function filterFor(starter: number, view: OwnView | null): readonly string[] | null {
  if (unlessGone(() => readFileSync(`/proc/${starter}/cmdline`, 'latin1'))?.includes(FILTERED) === true) return [];
  return underFilter(seccompFilter(process.arch, ofEdge({ mounts: view !== null })), { gainsNothing: true });
}

/** What it starts gains nothing by programs that make themselves root. */
function gainingNothing(): readonly string[] {
  const setpriv = findProgram('setpriv');
  return setpriv === null ? [] : [setpriv, '--no-new-privs', '--'];
}

function argumentsOf(
  options: EdgeProcessOptions,
  program: EdgeProgram,
  { ports, view, isFiltered }: { ports: BoundPorts; view: OwnView | null; isFiltered: boolean },
): readonly string[] {
  const { port, tlsPort } = ports;
  const { host } = options.listen;
  const tls = options.tls ? { host: options.tls.host, port: tlsPort } : null;
  const { fingerprint, entry } = program;
  const { follow, drainMs } = options;
  const own = {
    ...placesOf(options),
    host,
    port,
    tls,
    fingerprint,
    ...behaviourOf(options),
    view,
    isFiltered,
    follow,
    drainMs,
  };
  return [entry, JSON.stringify(own)];
}

/** Of the program that runs while control is away, with all it needs to start this edge; null: none does. */
export function keeperCommandOf(
  options: EdgeProcessOptions,
  program: EdgeProgram,
  ports: BoundPorts,
): readonly string[] | null {
  if (options.keeper === undefined) return null;
  return [
    execPathOf(options),
    program.keeperEntry,
    options.keeper,
    ...argumentsOf(options, program, { ports, view: null, isFiltered: false }),
  ];
}

/**
 * Binds the addresses and starts the program with them, in a session of its own, so that it outlives this process; its output goes
 * to the log file. Throws `config.invalid` when an address cannot be had.
 */
export async function spawnEdge(
  options: EdgeProcessOptions,
  program: EdgeProgram,
  ports: BoundPorts,
): Promise<ChildProcess> {
  const log = await openLog(pathsOf(options).log);
  const { plain, tls } = doorsOf(options, ports);
  let servers: readonly Server[] = [];
  try {
    servers = await boundFor(tls === null ? [plain] : [plain, tls], (await wasKilled(options)) ? RELEASE_MS : 0);
    // In the same turn of the event loop as the binding: nothing is accepted here.
    const [port = 0, tlsPort = 0] = servers.map(boundPort);
    const { execPath, args } = commandOf(options, program, { ports: { port, tlsPort }, starter: process.pid });
    const child = spawn(execPath, args, {
      detached: true,
      cwd: options.stateDir,
      env: {},
      stdio: ['ignore', log.fd, log.fd, ...servers.map(descriptorOf)],
    });
    child.unref();
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return child;
  } finally {
    for (const server of servers) server.close();
    await log.close();
  }
}

async function wasKilled(options: EdgeProcessOptions): Promise<boolean> {
  const left = everyRunDir(options).map((directory) => stat(join(directory, 'edge.pid')));
  return (await Promise.allSettled(left)).some(({ status }) => status === 'fulfilled');
}

async function openLog(path: string): Promise<FileHandle> {
  await boundLog(path);
  return open(path, 'a', 0o600);
}

/** Empties the log when it has grown long; those who write to it go on at its new end. */
export async function boundLog(path: string): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > MAX_LOG_BYTES) await truncate(path);
}

/** True while a process with this pid runs (a zombie does not) and is the edge of this home. */
export async function isEdgeOf(options: Places, pid: number): Promise<boolean> {
  if (readProcess(pid)?.zombie !== false) return false;
  // Only what answers on the socket is known to be the edge where the system does not say.
  const command = await commandLineOf(pid);
  return ownStateDirs(options).some((directory) => command.includes(JSON.stringify(directory)));
}

/** The same pid, or null where that is no edge of this home. */
export async function ifEdge(options: Places, pid = 0): Promise<number | null> {
  return Number.isInteger(pid) && pid > 1 && (await isEdgeOf(options, pid)) ? pid : null;
}

/** The one that has noted itself. */
export async function edgeFromFile(options: Places): Promise<number | null> {
  for (const directory of everyRunDir(options)) {
    const text = await readFile(join(directory, 'edge.pid'), 'utf8').catch(() => '');
    const pid = await ifEdge(options, Number(text.trim()));
    if (pid !== null) return pid;
  }
  return null;
}

/** Whether what this edge starts can be the user that is wanted: root becomes whoever it likes, others nobody else. */
export function canStartAs(options: EdgeProcessOptions, pid: number): boolean {
  return ownerOf(pid) === 0 || isUserOf(options, pid);
}

/** Whether it is the user that is wanted already; of a system that does not say it is. */
function isUserOf({ user = null }: EdgeProcessOptions, pid: number): boolean {
  const owner = ownerOf(pid);
  return owner === undefined || owner === (user ?? process.geteuid?.());
}

/** Undefined where the system does not say. */
function ownerOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

/** TERM, then KILL after `graceMs`; resolves once the process is gone. */
export async function endEdge(pid: number, graceMs: number): Promise<void> {
  const start = readProcess(pid)?.start ?? '';
  signal(pid, 'SIGTERM');
  if (await isGone({ pid, start }, graceMs)) return;
  signal(pid, 'SIGKILL');
  if (await isGone({ pid, start }, graceMs)) return;
  throw new PlatformError('unavailable', `The edge (process ${pid}) could not be ended.`);
}

async function isGone({ pid, start }: { pid: number; start: string }, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  // By its start time: a process that is ending has no command line any more.
  while (isAlive(pid, start)) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function programsOf({ stateDir }: Pick<EdgeProcessOptions, 'stateDir'>): string {
  return join(stateDir, 'programs');
}

function execPathOf(options: EdgeProcessOptions): string {
  return options.execPath ?? process.execPath;
}
