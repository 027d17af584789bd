/** `tancho edge run`: an edge without a server on its machine, started again when it dies, until it is asked to end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { boundFor, boundPort, type Door, doorsOf } from '../backends/router/edge/edge-doors.ts';
import type { EdgeProcessOptions } from '../backends/router/edge/edge-options.ts';
import { leadToOwnPlaces } from '../backends/router/edge/edge-places.ts';
import {
  commandOf,
  prepareDirectories,
  prepareProgram,
  removeOtherPrograms,
} from '../backends/router/edge/edge-process.ts';
import { edgeUser } from '../backends/router/edge/edge-user.ts';
import { type Config, tlsAddress } from '../config/config.ts';
import { EDGE_TOKEN } from '../edge/follow/options.ts';
import { claimHome } from '../lib/home-claim.ts';
import { hostPort } from '../lib/host-port.ts';
import { descriptorOf } from '../lib/listening.ts';
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
  /** Requests that have begun are answered. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 30_000;
const STOP_SLACK_MS = 5_000;
/** For the workers of an edge that was killed, which end a little later. */
const RELEASE_MS = 5_000;
const FIRST_RESTART_MS = 50;
const LAST_RESTART_MS = 10_000;
const STEADY_MS = 60_000;

/** Throws `config.invalid` when an address cannot be had, HomeTaken when somebody else has the home. */
export async function startOwnEdge(config: Config, options: OwnEdgeOptions): Promise<OwnEdge> {
  const runDir = join(config.home, 'run');
  await mkdir(runDir, { recursive: true, mode: 0o700 });
  const release = await claimHome(join(runDir, 'control.pid'));
  const stopping = new AbortController();
  const edge = await prepared(config, options, runDir).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let child = await started(edge, options.token).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  await removeOtherPrograms(edge.process, edge.program);
  await leadToOwnPlaces(edge.process);

  const kept = (async (): Promise<void> => {
    let pauseMs = FIRST_RESTART_MS;
    for (let born = performance.now(); ; born = performance.now()) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (stopping.signal.aborted) return;
      pauseMs = performance.now() - born > STEADY_MS ? FIRST_RESTART_MS : Math.min(pauseMs * 2, LAST_RESTART_MS);
      say('the edge has died and is started again');
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      child = await started(edge, options.token);
    }
  })();
  kept.catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });

  const [plain, ofTls] = edge.doors;
  const named = (door: Door): string => (edge.sockets === null ? hostPort(door) : 'at a socket of the service manager');
  return {
    listen: named(plain ?? { ...config.edgeListen, variable: '' }),
    tlsListen: ofTls === undefined ? null : named(ofTls),
    async stop() {
      stopping.abort();
      child.kill('SIGTERM');
      const timer = setTimeout(
        () => child.kill('SIGKILL'),
        config.edgeDrainSeconds * 1000 + STOP_GRACE_MS + STOP_SLACK_MS,
      );
      await kept;
      clearTimeout(timer);
      await release();
    },
  };
}

interface Prepared {
  readonly process: EdgeProcessOptions;
  readonly program: Awaited<ReturnType<typeof prepareProgram>>;
  /** With the ports as bound. */
  readonly doors: Door[];
  /** That are bound already, one for each door; null: none are. */
  readonly sockets: readonly number[] | null;
}

async function prepared(config: Config, { name, servers, version }: OwnEdgeOptions, runDir: string): Promise<Prepared> {
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
  const { plain, tls } = doorsOf(options, { port: listen.port, tlsPort: options.tls?.port ?? 0 });
  const doors = tls === null ? [plain] : [plain, tls];
  const sockets = handedSockets(process.env, doors.length);
  return { process: options, program: await prepareProgram(options), doors, sockets };
}

/** Any port that it gets at first is the one it has from then on. */
async function started({ process: options, program, doors, sockets }: Prepared, token: string): Promise<ChildProcess> {
  const bound = sockets === null ? await boundFor(doors, RELEASE_MS) : [];
  try {
    // In the same turn of the event loop as the binding: nothing is accepted here.
    for (const [at, server] of bound.entries()) doors[at] = { ...(doors[at] as Door), port: boundPort(server) };
    const [port = 0, tlsPort = 0] = doors.map((door) => door.port);
    const { execPath, args } = commandOf(options, program, { ports: { port, tlsPort }, starter: process.pid });
    const child = spawn(execPath, args, {
      // A terminal's Ctrl-C is for this process, which passes it on once.
      detached: true,
      cwd: options.stateDir,
      env: { [EDGE_TOKEN]: token, ...trust() },
      stdio: ['pipe', 'inherit', 'inherit', ...(sockets ?? bound.map(descriptorOf))],
    });
    await once(child, 'spawn');
    return child;
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
