/** An edge on "another machine": a process of the built program with a home of its own, which follows servers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { builtProgram } from './built.ts';
import { until } from './until.ts';
import { type HttpAnswer, request } from './world.ts';

export interface OwnEdge {
  readonly name: string;
  readonly home: string;
  /** `host:port` where it serves. */
  readonly edge: string;
  /** Of the process that serves. */
  pid(): Promise<number>;
  /** Of the one that was started, which looks after it. */
  readonly ownerPid: number;
  output(): string;
  fetchApp(app: string, requestPath?: string): Promise<HttpAnswer>;
  end(signal: NodeJS.Signals): Promise<void>;
  startAgain(): Promise<void>;
  /** Another one in the same home, of this main.js or of the same one, once it serves. */
  takenOverBy(main?: string): Promise<OwnEdge>;
  /** Resolves when it has ended, with its exit code. */
  readonly ended: Promise<number | null>;
  dispose(): Promise<void>;
}

interface OwnEdgeOptions {
  readonly name: string;
  readonly servers: readonly string[];
  readonly token: string;
  readonly env?: Record<string, string>;
  /** Absent: a new one. */
  readonly home?: string;
  /** Of the program; absent: as it is built. */
  readonly main?: string;
}

export async function startOwnEdge(options: OwnEdgeOptions): Promise<OwnEdge> {
  const { name, servers, token, env = {} } = options;
  const main = options.main ?? path.join(await builtProgram(), 'main.js');
  const home = options.home ?? (await mkdtemp(path.join(os.tmpdir(), 'tancho-edge-')));
  const args = ['edge', 'run', '--name', name, ...servers.flatMap((server) => ['--server', server])];
  let listen = '127.0.0.1:0';
  let printed = '';
  let child: ChildProcess;
  let ended: Promise<number | null>;

  async function start(): Promise<void> {
    const from = printed.length;
    child = spawn(process.execPath, [main, ...args], {
      env: {
        ...{ PATH: process.env['PATH'] ?? '', HOME: home, TANCHO_HOME: home, TANCHO_EDGE_TOKEN: token },
        ...{ TANCHO_EDGE_LISTEN: listen, TANCHO_EDGE_WORKERS: '1', ...env },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    ended = new Promise((resolve) => child.once('exit', resolve));
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => (printed += data.toString()));
    await until(
      () => {
        if (child.exitCode !== null) throw new Error(`the edge ended:\n${printed.slice(from)}`);
        listen = /^\s*Apps:?\s+(\S+:[1-9]\d*)$/m.exec(printed.slice(from))?.[1] ?? listen;
        return printed.slice(from).includes('serving on ') && !listen.endsWith(':0');
      },
      { what: 'the edge to serve', detail: () => printed.slice(from) },
    );
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await ended;
  }

  await start();
  return {
    name,
    home,
    get edge() {
      return listen;
    },
    pid: async () => Number.parseInt(await readFile(path.join(home, 'run', 'edge.pid'), 'utf8'), 10),
    get ownerPid() {
      return child.pid ?? 0;
    },
    output: () => printed,
    fetchApp: (app, requestPath = '/') =>
      request(`http://${listen}`, 'GET', requestPath, { headers: { host: `${app}.localhost` } }),
    end,
    startAgain: start,
    takenOverBy: (other = main) =>
      startOwnEdge({ ...options, home, main: other, env: { TANCHO_EDGE_LISTEN: listen, ...env } }),
    get ended() {
      return ended;
    },
    async dispose() {
      await end('SIGTERM');
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
