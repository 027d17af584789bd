/** `tancho edge run`: an edge without a server on its machine, started again when it dies, until it is told to end. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { boundFor, boundPort, type Door } from '../backends/router/edge/edge-doors.ts';
import { type Config, tlsAddress } from '../config/config.ts';
import { EDGE_TOKEN } from '../edge/follow/options.ts';
import { claimHome } from '../lib/home-claim.ts';
import { hostPort } from '../lib/host-port.ts';
import { descriptorOf } from '../lib/listening.ts';

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
  const places = { stateDir: join(config.home, 'edge'), runDir: join(config.home, 'run') };
  for (const directory of Object.values(places)) await mkdir(directory, { recursive: true, mode: 0o700 });
  const release = await claimHome(join(places.runDir, 'control.pid'));
  const tls = tlsAddress(config);
  const doors: Door[] = [
    { ...config.edgeListen, variable: 'TANCHO_EDGE_LISTEN' },
    ...(tls === null ? [] : [{ ...tls, variable: 'TANCHO_TLS_LISTEN' }]),
  ];
  const stopping = new AbortController();
  let child = await started(config, options, places, doors).catch(async (error: unknown) => {
    await release();
    throw error;
  });

  const kept = (async (): Promise<void> => {
    let pauseMs = FIRST_RESTART_MS;
    for (let born = performance.now(); ; born = performance.now()) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      if (stopping.signal.aborted) return;
      pauseMs = performance.now() - born > STEADY_MS ? FIRST_RESTART_MS : Math.min(pauseMs * 2, LAST_RESTART_MS);
      process.stderr.write(`${new Date().toISOString()} the edge has died and is started again\n`);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      child = await started(config, options, places, doors);
    }
  })();
  kept.catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });

  const [plain, ofTls] = doors;
  return {
    listen: hostPort(plain ?? config.edgeListen),
    tlsListen: ofTls === undefined ? null : hostPort(ofTls),
    async stop() {
      stopping.abort();
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS + STOP_SLACK_MS);
      await kept;
      clearTimeout(timer);
      await release();
    },
  };
}

/** Any port that it gets at first is the one it has from then on. */
async function started(
  config: Config,
  { name, servers, token, version }: OwnEdgeOptions,
  places: { readonly stateDir: string; readonly runDir: string },
  doors: Door[],
): Promise<ChildProcess> {
  const bound = await boundFor(doors, RELEASE_MS);
  try {
    // In the same turn of the event loop as the binding: nothing is accepted here.
    for (const [at, door] of doors.entries()) doors[at] = { ...door, port: boundPort(bound[at]) };
    const [plain, tls = null] = doors.map(({ host, port }) => ({ host, port }));
    const { edgeWorkers: workers, trustedProxies, proxyProtocol, hstsSeconds, http2 } = config;
    const given = {
      ...places,
      ...plain,
      ...{ tls, workers, trustedProxies, proxyProtocol, hstsSeconds, http2, stopGraceMs: STOP_GRACE_MS },
      follow: { name, program: version, servers },
    };
    const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'edge', 'main.js'), JSON.stringify(given)], {
      // A terminal's Ctrl-C is for this process, which passes it on once.
      detached: true,
      cwd: places.stateDir,
      env: { [EDGE_TOKEN]: token, ...trust() },
      stdio: ['pipe', 'inherit', 'inherit', ...bound.map(descriptorOf)],
    });
    await once(child, 'spawn');
    return child;
  } finally {
    for (const server of bound) server.close();
  }
}

/** By which roots servers are trusted is said to Node itself. */
function trust(): Record<string, string> {
  const roots = process.env['NODE_EXTRA_CA_CERTS'];
  return roots === undefined ? {} : { NODE_EXTRA_CA_CERTS: roots };
}
