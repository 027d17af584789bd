/** `tancho edge run`: an edge without a server on its machine, started again when it dies, until it is asked to end or another one takes over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { boundFor, boundPort, type EdgeDoor, doorsOf, type BoundPorts } from '../backends/router/edge/edge-doors.ts';
import type { EdgeProcessOptions } from '../backends/router/edge/edge-options.ts';
import { leadToOwnPlaces } from '../backends/router/edge/edge-places.ts';
import {
  commandOf,
  copyProgram,
  type EdgeProgram,
  endEdge,
  prepareDirectories,
  programOf,
  removeOtherPrograms,
} from '../backends/router/edge/edge-process.ts';
import { edgeUser } from '../backends/router/edge/edge-user.ts';
import { type Config, tlsAddress } from '../config/config.ts';
import { PlatformError } from '../domain/errors.ts';
import { EDGE_TOKEN } from '../edge/follow/options.ts';
import { claimHome, HomeTaken, reclaimHome, takeHome } from '../lib/home-claim.ts';
import { hostPort } from '../lib/host-port.ts';
import { descriptorOf } from '../lib/listening.ts';
import { readProcess } from '../lib/processes.ts';
import { EdgeRestarts } from './edge-restarts.ts';
import { findEdge, type FoundEdge, type LivingEdge, takeOver } from './edge-takeover.ts';
import { handedSockets } from './handed-sockets.ts';

export interface OwnEdgeOptions {
  readonly name: string;
  readonly servers: readonly string[];
  readonly token: string;
  readonly version: string;
}

export interface OwnEdge {
  /** As bound. */
  readonly listen: string;
  readonly tlsListen: string | null;
  /** Resolves when it has ended: it was stopped, or another one has taken over, and what was begun here is finished. */
  readonly ended: Promise<void>;
  /** Requests that have begun are answered. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 30_000;
const STOP_SLACK_MS = 5_000;
/** For the workers of an edge that was killed, which end a little later. */
const RELEASE_MS = 5_000;

/**
 * Takes over from the edge that another one of these runs in the home, which ends then. Throws `config.invalid` when an address cannot be had, `unavailable` when
 * somebody else has the home, or another one is just being started.
 */
export async function startOwnEdge(config: Config, options: OwnEdgeOptions): Promise<OwnEdge> {
  const runDir = join(config.home, 'run');
  await mkdir(runDir, { recursive: true, mode: 0o700 });
  // One start at a time: the next one has to find the edge that this one starts.
  const endTurn = await claimed(
    join(runDir, 'edge-start.pid'),
    (pid) => `Another start of this edge (pid ${pid}) is under way.`,
  );
  try {
    return await begun(await prepared(config, options, runDir), config);
  } finally {
    await endTurn();
  }
}

async function begun(edge: Prepared, config: Config): Promise<OwnEdge> {
  const control = join(edge.process.runDir, 'control.pid');
  const found = await findEdge(edge.process);
  const isHad = (pid: number): string => `Process ${pid} has this home: a server, or an edge that is about to end.`;
  const home = found === null ? { release: await claimed(control, isHad) } : await takeHome(control);
  const living = await first(edge, found).catch(async (error: unknown) => {
    await ('giveBack' in home ? home.giveBack() : home.release());
    throw error;
  });
  await removeOtherPrograms(edge.process, edge.program);
  await leadToOwnPlaces(edge.process);

  const graceMs = config.edgeDrainSeconds * 1000 + STOP_GRACE_MS + STOP_SLACK_MS;
  const restarts = new EdgeRestarts(living, {
    start: () => started(edge),
    end: (pid) => endEdge(pid, graceMs),
    isToServe: () => reclaimHome(control),
    onDeath: () => say('the edge has died and is started again'),
  });
  restarts.ended.catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });

  const { plain, tls } = edge.doors;
  const named = (door: EdgeDoor): string =>
    edge.sockets === null ? hostPort(door) : 'at a socket of the service manager';
  return {
    listen: named(plain),
    tlsListen: tls === null ? null : named(tls),
    ended: restarts.ended,
    async stop() {
      await restarts.stop();
      await home.release();
    },
  };
}

async function claimed(pidFile: string, whyNot: (pid: number) => string): Promise<() => Promise<void>> {
  try {
    return await claimHome(pidFile);
  } catch (error) {
    if (!(error instanceof HomeTaken)) throw error;
    const hint = 'Try again once it has ended, or give this one another TANCHO_HOME.';
    throw new PlatformError('unavailable', whyNot(error.pid), { hint });
  }
}

/** Where the edge that was found dies meanwhile there is nobody to take over from. */
async function first(edge: Prepared, found: FoundEdge | null): Promise<LivingEdge> {
  if (found === null) return started(edge);
  try {
    const taken = await takeOver(found, edge);
    withPorts(edge.doors, taken.ports);
    return taken.edge;
  } catch (error) {
    if (readProcess(found.hello.pid)?.zombie === false) throw error;
    return started(edge);
  }
}

interface Prepared {
  readonly process: EdgeProcessOptions;
  readonly program: EdgeProgram;
  /** With the ports as bound. */
  readonly doors: { plain: EdgeDoor; tls: EdgeDoor | null };
  readonly env: Readonly<Record<string, string>>;
  /** That are bound already, one for each door; null: none are. */
  readonly sockets: readonly number[] | null;
}

async function prepared(config: Config, asked: OwnEdgeOptions, runDir: string): Promise<Prepared> {
  const { name, servers, version, token } = asked;
  const { home, edgeListen: listen, edgeWorkers: workers, trustedProxies, proxyProtocol, hstsSeconds, http2 } = config;
  // Its units are on other machines: how those of this one are kept apart says nothing of it.
  const { uid: user, why } = await edgeUser({ home, execPath: process.execPath, isolation: 'auto' });
  if (user === null && process.geteuid?.() === 0) say(`the edge stays root: ${why}`);
  const options: EdgeProcessOptions = {
    ...{ stateDir: join(home, 'edge'), runDir, user, listen, tls: tlsAddress(config), workers },
    ...{ trustedProxies, proxyProtocol, hstsSeconds, http2, stopGraceMs: STOP_GRACE_MS },
    drainMs: config.edgeDrainSeconds * 1000,
    programDir: join(import.meta.dirname, '..'),
    follow: { name, program: version, servers },
  };
  await prepareDirectories(options);
  const doors = { ...doorsOf(options, { port: listen.port, tlsPort: options.tls?.port ?? 0 }) };
  const sockets = handedSockets(process.env, doors.tls === null ? 1 : 2);
  const env = { [EDGE_TOKEN]: token, ...trust() };
  return { process: options, program: programOf(options, await copyProgram(options)), doors, env, sockets };
}

function withPorts(doors: Prepared['doors'], { port, tlsPort }: BoundPorts): void {
  doors.plain = { ...doors.plain, port };
  if (doors.tls !== null) doors.tls = { ...doors.tls, port: tlsPort };
}

/** Any port that it gets at first is the one it has from then on. */
async function started({ process: options, program, doors, env, sockets }: Prepared): Promise<LivingEdge> {
  const wanted = doors.tls === null ? [doors.plain] : [doors.plain, doors.tls];
  const bound = sockets === null ? await boundFor(wanted, RELEASE_MS) : [];
  try {
    // In the same turn of the event loop as the binding: nothing is accepted here.
    if (sockets === null) withPorts(doors, { port: boundPort(bound[0]), tlsPort: boundPort(bound[1]) });
    const ports = { port: doors.plain.port, tlsPort: doors.tls?.port ?? 0 };
    const { execPath, args } = commandOf(options, program, { ports, starter: process.pid });
    const child = spawn(execPath, args, {
      // A terminal's Ctrl-C is for this process, which passes it on once.
      detached: true,
      cwd: options.stateDir,
      env,
      stdio: ['pipe', 'inherit', 'inherit', ...(sockets ?? bound.map(descriptorOf))],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    await once(child, 'spawn');
    return { pid: child.pid ?? 0, ended };
  } finally {
    for (const server of bound) server.close();
  }
}

function say(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

/** By which roots servers are trusted is said to Node itself. */
function trust(): Record<string, string> {
  const roots = process.env['NODE_EXTRA_CA_CERTS'];
  return roots === undefined ? {} : { NODE_EXTRA_CA_CERTS: roots };
}
