/** argv -> the command line; `tancho server` -> configuration -> daemon. The only file that knows both, and decides nothing else. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CliContext } from './cli/context.ts';
import { CliError } from './cli/errors.ts';
import type { RunningServer, ServerDoor, StopSignal } from './cli/server/door.ts';
import type { Config, Listen } from './config/config.ts';
import { ConfigError } from './config/config-error.ts';
import { homeOf } from './config/home.ts';
import { growSlowly, speedUp, staySmall } from './lib/small-start.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] satisfies StopSignal[];
/** That came while the program was still being loaded. By default they would end this process alone, and Ctrl-C is to end the apps, too. */
const earlySignals: StopSignal[] = [];
const noteEarly = (signal: NodeJS.Signals): void => {
  earlySignals.push(...STOP_SIGNALS.filter((one) => one === signal));
};

// Before anything is opened or begun.
const isServer = process.argv[2] === 'server' && !/^[a-z]/.test(process.argv[3] ?? '');
if (isServer) {
  (await import('./lib/inherited-descriptors.ts')).closeInherited();
  (await import('./lib/less-memory.ts')).takeLessMemory(process);
  const { reclaiming, reclaimPorts } = await import('./daemon/reserved-ports/reclaim.ts');
  const home = homeOrEnd();
  const under = async (): Promise<string[]> => {
    const { controlUnderFilter } = await import('./sandbox/seccomp/under-filter.ts');
    return [...controlUnderFilter(), ...reclaiming(home)];
  };
  await (await import('./lib/fewer-rights.ts')).giveUpNeedless(under);
  reclaimPorts(home);
  for (const signal of STOP_SIGNALS) process.on(signal, noteEarly);
}

/** After the start, when the first healing rounds are over. */
const SETTLED_MS = 10_000;
/** Of what is born in memory: hundreds may follow a log at once, which V8 would take for a reason to grow. */
const YOUNG_BYTES = 8 * 1024 ** 2;
/** That small buffers share, and that stays as long as one of them does. Node.js takes 64 KB: 6 MB of a hundred connections, each of which keeps a few bytes. */
const POOL_BYTES = 8 * 1024;

const packageRoot = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${packageRoot}package.json`, 'utf8')) as { version: string };

/** While the state of the home is being moved a start waits for that, and goes on where the state is then. */
async function startServer(): Promise<RunningServer> {
  const { movesNoMore, StateMoves } = await import('./lib/move-claim.ts');
  for (;;) {
    await movesNoMore(context.home, (pid) =>
      context.stdout.write(`Waiting for tancho migrate (process ${pid}); the apps stay on the air ...\n`),
    );
    try {
      return await startNow();
    } catch (error) {
      if (!(error instanceof StateMoves)) throw error;
    }
  }
}

async function startNow(): Promise<RunningServer> {
  const { loadConfig } = await import('./config/load.ts');
  const [config] = await Promise.all([loadConfig(process.env), checkGit()]);
  const { startDaemon } = await import('./daemon.ts');
  try {
    const daemon = await startDaemon(config, { version });
    return {
      ready: daemon.ready,
      firstAdmin: daemon.firstAdmin,
      passwordGiven: config.admin.password !== null,
      domain: config.domain,
      isolation: daemon.isolation,
      whyEnding: () => daemon.whyEnding(),
      stop: (how) => daemon.stop(how),
    };
  } catch (error) {
    throw await explainDisk(await explainListen(error, config), config);
  }
}

/** Once, when what starting needed is no longer used: V8 gives pages back to the system only after a full collection. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', flavor: 'last-resort' });
}

async function checkGit(): Promise<void> {
  const { spawn } = await import('node:child_process');
  const isThere = await new Promise<boolean>((resolve) => {
    const child = spawn('git', ['--version'], { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
  if (!isThere)
    throw new CliError('git is not installed.', 'Install git (for example: apt install git) and try again.');
}

/** A port that cannot be had is the operator's business: which setting it is, and what to do. */
async function explainListen(error: unknown, config: Config): Promise<unknown> {
  const { code, port, syscall } = error as Partial<{ code: string; port: number; syscall: string }>;
  if (syscall !== 'listen' && syscall !== 'bind' && code !== 'EADDRINUSE') return error;
  const doors: readonly (readonly [string, Listen])[] = [
    ['TANCHO_API_LISTEN', config.apiListen],
    ['TANCHO_EDGE_LISTEN', config.edgeListen],
    ['TANCHO_SSH_LISTEN', config.sshListen],
  ];
  const [variable, listen] = doors.find(([, door]) => door.port === port) ?? [];
  if (variable === undefined || listen === undefined) return error;
  const { portUser } = await import('./lib/port-user.ts');
  const { hostPort } = await import('./lib/host-port.ts');
  const reasons: Readonly<Record<string, string>> = {
    ...(code === 'EADDRINUSE' && { EADDRINUSE: `${portUser(listen.port)} already listens there` }),
    EACCES: 'this user may not use that port',
    EADDRNOTAVAIL: 'this machine does not have that address',
  };
  return new CliError(
    `Cannot listen on ${hostPort(listen)}: ${reasons[code ?? ''] ?? code ?? 'unknown reason'}.`,
    `End that program (an app: tancho server stop --all), or choose another place: ${variable}=127.0.0.1:${listen.port + 10}`,
    { cause: error },
  );
}

async function explainDisk(error: unknown, { home }: Config): Promise<unknown> {
  const { isDiskFull } = await import('./domain/errors.ts');
  if (!isDiskFull(error)) return error;
  return new CliError(
    `The disk of ${home} is full.`,
    'Make room there, then start again. What runs goes on running meanwhile.',
    { cause: error },
  );
}

const server: ServerDoor = {
  async start() {
    const running = await startServer();
    growSlowly();
    setTimeout(collectGarbage, SETTLED_MS).unref();
    return running;
  },
  onSignal(listener) {
    for (const signal of STOP_SIGNALS) {
      process.on(signal, () => listener(signal));
      process.off(signal, noteEarly);
    }
    earlySignals.splice(0).forEach(listener);
  },
  exit: (code) => process.exit(code),
  again(args = process.argv.slice(2)) {
    const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
    process.execve?.(process.execPath, [...program, ...args], process.env);
  },
  async checkMove(move, isServing) {
    const { checkMove } = await import('./daemon/move-state.ts');
    return checkMove(move, isServing);
  },
  async bringAhead(ahead) {
    const { bringAhead } = await import('./daemon/move-state.ts');
    return bringAhead(ahead);
  },
  async moveState(move) {
    const { moveState } = await import('./daemon/move-state.ts');
    return moveState(move);
  },
  async startEdge(asked) {
    const { loadConfig } = await import('./config/load.ts');
    const { startOwnEdge } = await import('./daemon/own-edge.ts');
    return startOwnEdge(await loadConfig(process.env), { ...asked, version });
  },
  async pushProgram(image) {
    const { pushProgram } = await import('./backends/image-source/registry/push/push-program.ts');
    return pushProgram(image);
  },
};

function homeOrEnd(): string {
  try {
    return homeOf(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message} ${error.hint}\n`);
    process.exit(1);
  }
}

/** As a program ends that SIGPIPE ends: what it did may be unfinished. */
const READER_GONE = 128 + 13;
/** Goes on whatever becomes of what it says, as on a full disk: others live by it. */
const isServing =
  isServer || /^(?:edge run|provider (?:postgres|redis|mock))$/.test(process.argv.slice(2, 4).join(' '));

for (const output of [process.stdout, process.stderr]) {
  output.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isServing) return;
    // `| head`
    if (code === 'EPIPE') process.exit(READER_GONE);
    if (output === process.stdout) process.stderr.write(`Error: What this says cannot be written: ${message}\n`);
    process.exit(1);
  });
}

const context: CliContext = {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
  home: homeOrEnd(),
  version,
  packageRoot,
  signal: new AbortController().signal,
  server,
};

staySmall(YOUNG_BYTES);
Buffer.poolSize = POOL_BYTES;
const { runCli } = await import('./cli/program.ts');
// A server stays so until it has a client; a command is there to be done soon.
if (process.argv[2] !== 'server') speedUp();
const exitCode = await runCli(process.argv.slice(2), context);
for (const output of [process.stdout, process.stderr]) {
  await new Promise<void>((resolve) => output.write('', () => resolve()));
}
process.exit(exitCode);
