/**
 * A whole platform for tests: the built program in a process of its own, on free ports, with its state in a temporary
 * directory. Driven only as a user would: HTTP, git, the command line, signals.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { builtProgram } from './built.ts';
import { freePort } from './free-port.ts';
import { noteServer } from './left-servers.ts';
import { until } from './until.ts';
import { CLUSTER_POOL, ENGINE, openWorldCluster, type WorldCluster } from './world-engine.ts';

const START_MS = 180_000;
const STOP_MS = 120_000;

export interface World {
  readonly home: string;
  /** The built main.js of the next start. */
  program: string;
  readonly apiUrl: string;
  /** `host:port` of the edge. */
  readonly edge: string;
  readonly ssh: { readonly host: string; readonly port: number };
  readonly adminEmail: string;
  readonly adminPassword: string;
  readonly pid: number;
  /** Null: the server has its own engine only. */
  readonly cluster: WorldCluster | null;
  /** Everything the server has printed. */
  output(): string;
  /** An HTTP request to an app by its name, through the edge. */
  fetchApp(app: string, requestPath?: string): Promise<HttpAnswer>;
  /** A request to the API as the given token's owner; no token: anonymous. */
  api(method: string, requestPath: string, options?: ApiOptions): Promise<HttpAnswer>;
  login(email?: string, password?: string): Promise<string>;
  /** Runs the command line; never throws for a non-zero exit. */
  cli(args: readonly string[], options?: { cwd?: string; env?: Record<string, string>; input?: string }): Promise<Ran>;
  /** Closes what the server prints to: nobody reads it any more. */
  stopReading(): void;
  /** Ends the server with a signal and waits until it is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Starts the server again on the same home and ports, from then on with these settings, too. */
  startAgain(env?: Record<string, string>): Promise<void>;
  /** Ends everything, apps and edge included, and removes the home. */
  dispose(): Promise<void>;
}

export interface ApiOptions {
  readonly token?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  json<T>(): T;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Ports {
  readonly api: string;
  readonly edge: string;
  readonly ssh: string;
}

export interface WorldOptions {
  readonly env?: Record<string, string>;
  readonly home?: string;
  /** The built main.js; absent: as it is here. */
  readonly program?: string;
  /** Beside `server`. */
  readonly flags?: readonly string[];
  /** Whether it has a cluster beside its own engine; where scenarios run in one, it has, and new apps are there. */
  readonly hasCluster?: boolean;
}

const ADMIN_EMAIL = 'admin@example.com';
const ADMIN_PASSWORD = 'correct horse battery';

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const dist = await builtProgram();
  const home = options.home ?? (await newHome());
  const cluster = (options.hasCluster ?? ENGINE === 'kubernetes') ? await openWorldCluster() : null;
  const main = path.join(dist, 'main.js');
  let program = options.program ?? main;
  // Not of those that the system gives out: a connection would take one while the server is down.
  let ports: Ports = { api: await freeAddress(), edge: await freeAddress(), ssh: await freeAddress() };
  let printed = '';
  let child: ChildProcess;
  const added: Record<string, string> = {};

  const env = (): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    ...registryEnv(),
    TANCHO_HOME: home,
    TANCHO_API_LISTEN: ports.api,
    TANCHO_EDGE_LISTEN: ports.edge,
    TANCHO_SSH_LISTEN: ports.ssh,
    TANCHO_ADMIN_EMAIL: ADMIN_EMAIL,
    TANCHO_ADMIN_PASSWORD: ADMIN_PASSWORD,
    // What lasts longer is waited for by nobody here.
    TANCHO_UNITS_WATCH: '1',
    // To run the scenarios at a lower level than this machine's strongest.
    TANCHO_ISOLATION: process.env['TANCHO_ISOLATION'] ?? '',
    ...cluster?.env,
    ...options.env,
    ...added,
  });

  async function start(): Promise<void> {
    const from = printed.length;
    child = spawn(process.execPath, [program, 'server', ...(options.flags ?? [])], {
      env: env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => (printed += data.toString()));
    await until(
      async () => {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the server ended:\n${printed.slice(from)}`);
        const found = readAddresses(printed.slice(from));
        if (found === null) return false;
        ports = found;
        return true;
      },
      { timeoutMs: START_MS, everyMs: 5, what: 'the server to be ready', detail: () => printed.slice(from) },
    );
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const { pid } = child;
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the server did not end:\n${printed.slice(-2_000)}`)), STOP_MS);
    });
    try {
      await Promise.race([gone, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  const forget = noteServer(home, main);
  try {
    await start();
  } catch (error) {
    await end('SIGINT').catch(() => child.kill('SIGKILL'));
    await cluster?.dispose();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
    forget();
    throw error;
  }
  const [sshHost = '', sshPort = ''] = splitAddress(ports.ssh);

  const world: World = {
    home,
    get program() {
      return program;
    },
    set program(other) {
      program = other;
    },
    get apiUrl() {
      return `http://${ports.api}`;
    },
    get edge() {
      return ports.edge;
    },
    ssh: { host: sshHost, port: Number(sshPort) },
    adminEmail: ADMIN_EMAIL,
    adminPassword: ADMIN_PASSWORD,
    get pid() {
      return child.pid ?? 0;
    },
    cluster,
    output: () => printed,
    fetchApp: (app, requestPath = '/') =>
      request(`http://${ports.edge}`, 'GET', requestPath, { headers: { host: `${app}.localhost` } }),
    api: (method, requestPath, more) =>
      request(`http://${ports.api}`, method, requestPath, placed(method, requestPath, more)),
    async login(email = ADMIN_EMAIL, password = ADMIN_PASSWORD) {
      const body = JSON.stringify({ password });
      const answer = await request(`http://${ports.api}`, 'POST', `/users/${email}/tokens`, { body });
      if (answer.status !== 200) throw new Error(`login failed: ${answer.status} ${answer.text}`);
      return answer.json<{ token: string }>().token;
    },
    cli: (args, more = {}) =>
      run(process.execPath, [main, ...args], { ...more, env: { ...env(), ...more.env }, cwd: more.cwd ?? home }),
    stopReading() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    end,
    startAgain(env = {}) {
      Object.assign(added, env);
      return start();
    },
    async dispose() {
      if (child.exitCode !== null || child.signalCode !== null) await start().catch(() => undefined);
      await world.end('SIGINT').catch(() => child.kill('SIGKILL'));
      await cluster?.dispose();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
      forget();
    },
  };
  if (cluster !== null) await makePool(world);
  return world;
}

async function makePool(world: World): Promise<void> {
  const body = JSON.stringify({ name: CLUSTER_POOL, engine: 'cluster', public: true });
  const made = await world.api('POST', '/pools', { token: await world.login(), body });
  if (made.status !== 200) throw new Error(`no pool in the cluster: ${made.status} ${made.text}`);
}

/** Where scenarios run in a cluster, an app is made there unless it says otherwise. */
function placed(method: string, requestPath: string, options: ApiOptions = {}): ApiOptions {
  if (ENGINE !== 'kubernetes' || method !== 'POST' || requestPath !== '/apps') return options;
  const app = JSON.parse(options.body ?? '{}') as object;
  return { ...options, body: JSON.stringify({ pool: CLUSTER_POOL, ...app }) };
}

/** The users of apps may pass through it, as they must where there is one user per app and no namespaces. */
async function newHome(): Promise<string> {
  const home = await mkdtemp(path.join(os.tmpdir(), 'tancho-world-'));
  await chmod(home, 0o711);
  return home;
}

const freeAddress = async (): Promise<string> => `127.0.0.1:${await freePort()}`;

/** The server prints its addresses when it is ready. The edge listens on the API's host here; '' where it has none. */
function readAddresses(text: string): Ports | null {
  const api = /^\s*API:?\s+http:\/\/(\S+)$/m.exec(text)?.[1];
  const edgePort = /^\s*Apps:?\s+http:\/\/<app>\.[a-z0-9.-]+:(\d+)$/m.exec(text)?.[1];
  const ssh = /^\s*Git:?\s+ssh:\/\/git@([^\s/]+)\//m.exec(text)?.[1];
  // The last that is printed.
  if (api === undefined || ssh === undefined) return null;
  return { api, edge: edgePort === undefined ? '' : `127.0.0.1:${edgePort}`, ssh };
}

function splitAddress(address: string): [string, string] {
  const at = address.lastIndexOf(':');
  return [address.slice(0, at).replace(/^\[|\]$/g, ''), address.slice(at + 1)];
}

/** What package managers of this machine need to reach their registries. */
/** Of this process: what it takes to reach registries. */
export function registryEnv(): Record<string, string> {
  const wanted =
    /^(?:npm_config_|NPM_CONFIG_|PIP_|GOPROXY|GOFLAGS|GONOSUMDB|GOSUMDB|HTTPS?_PROXY|https?_proxy|NO_PROXY|no_proxy|SSL_CERT|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|TMPDIR)/;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      wanted.test(name) && value !== undefined ? [[name, value]] : [],
    ),
  );
}

export function request(
  base: string,
  method: string,
  requestPath: string,
  options: ApiOptions = {},
): Promise<HttpAnswer> {
  const url = new URL(requestPath, base);
  const headers: Record<string, string> = { ...options.headers };
  if (options.body !== undefined) headers['content-length'] = String(Buffer.byteLength(options.body));
  if (options.token !== undefined) headers['authorization'] = `bearer ${options.token}`;
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method, headers, agent: false, timeout: 60_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) });
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer from ${url.href}`)));
    sent.on('error', reject);
    sent.end(options.body);
  });
}

/** `obeysModes`: the modes of files hold for the program even where this process is root. */
export function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string>; input?: string; timeoutMs?: number; obeysModes?: boolean },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const [file = '', ...rest] = [...(options.obeysModes === true ? withoutPrivilege() : []), program, ...args];
    const child = spawn(file, rest, {
      cwd: options.cwd,
      env: options.env,
      stdio: 'pipe',
      timeout: options.timeoutMs ?? 120_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    // A program that has ended without reading its input is its own business.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** Root may open everything; a program behind this may not, though it is still root. */
function withoutPrivilege(): string[] {
  if (process.getuid?.() !== 0) return [];
  return ['/usr/bin/setpriv', '--bounding-set=-dac_override,-dac_read_search', '--inh-caps=-all', '--'];
}

/** Pid of the edge process of a world. */
export async function edgePid(world: World): Promise<number> {
  return Number.parseInt(await readFile(path.join(world.home, 'run', 'edge.pid'), 'utf8'), 10);
}
