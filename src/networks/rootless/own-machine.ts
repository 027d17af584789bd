/**
 * What stands for the machine where the platform is not root: a user, a mount and a network namespace, held by a process that sleeps, with
 * pasta as the way out of it and into it. In there the networks of a home are made as root makes them on the machine itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, readProcess, sendSignal } from '../../lib/processes.ts';
import { runTool } from '../../lib/tools/run-tool.ts';
import { addressAt, type AddressPlan, DOORS, LINK_PREFIX, OUTSIDE } from '../address-plan.ts';
import type { HomeRules } from '../rules.ts';
import { type UnitDoor, ownMachineRules } from './machine-rules.ts';
import { endLeftBehind, MACHINE_MARK } from './left-behind.ts';

/** Absolute paths. */
export interface OwnMachineTools {
  readonly pasta: string;
  readonly unshare: string;
  readonly sleep: string;
  readonly mount: string;
  readonly nsenter: string;
}

interface OwnMachineOptions {
  readonly tools: OwnMachineTools;
  readonly stateDir: string;
  /** Of the home; 8 hexadecimal digits. */
  readonly scope: string;
}

interface ProcessId {
  readonly pid: number;
  readonly start: string;
}

interface MachineNote {
  readonly holder: ProcessId;
  /** Null: none has been started yet. */
  readonly pasta: ProcessId | null;
}

/** A busy machine is slow, and must not get the weaker isolation for that. */
const START_DEADLINE_MS = 60_000;
const POLL_MS = 5;
/** Pasta that has lived for so long is started again at once when it ends, any other after a while. */
const WELL_AFTER_MS = 10_000;
const AGAIN_AFTER_MS = 1_000;
const NOBODY: ProcessId = { pid: 0, start: '' };
/** Pasta's end of the way out. */
const WAY_OUT = 'wan0';
/** In `/proc/<pid>/net/route` the destination of the default route. */
const DEFAULT_ROUTE = new RegExp(`^${WAY_OUT}\\s+00000000\\s`, 'm');
const LISTENS = '0A';

export class OwnMachine {
  /** On the machine itself; connections to a door of it reach one unit each. */
  readonly doorHost: string;
  /** Nothing has been made in it yet, by this process. */
  #isNew = false;
  /** Called when a pasta that this process has started ends by itself; those of earlier processes are seen by fault(). */
  onLost: () => void = () => undefined;
  readonly #options: OwnMachineOptions;
  readonly #path: string;
  #note: MachineNote = { holder: NOBODY, pasta: null };
  #unopened: ReadonlySet<number> = new Set();

  /** Goes on with what an earlier platform process has made, when all of it lives. */
  static async open(options: OwnMachineOptions): Promise<OwnMachine> {
    mkdirSync(join(options.stateDir, 'networks'), { recursive: true, mode: 0o700 });
    const machine = new OwnMachine(options);
    const note = machine.#read();
    if (note !== null && lives(note.holder)) machine.#note = note;
    else await machine.#renew();
    return machine;
  }

  private constructor(options: OwnMachineOptions) {
    this.#options = options;
    this.#path = join(options.stateDir, 'networks', 'machine.json');
    this.doorHost = doorHostOf(options.scope);
  }

  /** Where its files are seen from outside. */
  get root(): string {
    return `/proc/${this.#note.holder.pid}/root`;
  }

  /** In which whoever enters a network of it has to be first. */
  get userNamespace(): string {
    return `/proc/${this.#note.holder.pid}/ns/user`;
  }

  /** What is put before a command to run it in here, in the network at a path, in the machine's own for null. */
  inside(network: string | null): string[] {
    const { pid } = this.#note.holder;
    const view = [`--user=${this.userNamespace}`, `--mount=/proc/${pid}/ns/mnt`];
    return [
      this.#options.tools.nsenter,
      '--preserve-credentials',
      ...view,
      `--net=${network ?? `/proc/${pid}/ns/net`}`,
      '--',
    ];
  }

  /** Doors at which somebody else has listened first. */
  get unopened(): ReadonlySet<number> {
    return this.#unopened;
  }

  rules(plan: AddressPlan, home: HomeRules, doors: readonly UnitDoor[]): string {
    return ownMachineRules(plan, home, doors, WAY_OUT);
  }

  /** For people; null: all of it lives. */
  fault(): string | null {
    if (!lives(this.#note.holder)) return 'what holds the networks of units has been ended';
    return lives(this.#note.pasta ?? NOBODY)
      ? null
      : 'pasta, by which units are reached and reach others, has been ended';
  }

  get isHeld(): boolean {
    return lives(this.#note.holder);
  }

  /**
   * Addresses of the real machine: whoever called one of them by way of pasta would reach what listens there. Those towards networks of other
   * homes come and go, and are private.
   */
  addresses(): string[] {
    const links = Object.entries(networkInterfaces()).filter(([name]) => !name.startsWith(LINK_PREFIX));
    return links
      .flatMap(([, list = []]) => list)
      .flatMap(({ family, address }) => (family === 'IPv4' ? [address] : []))
      .sort();
  }

  /** Nothing is in it, nor runs that was in one before: processes that are cut off from everybody. */
  async begin(cutOff: readonly number[]): Promise<void> {
    for (const pid of cutOff) sendSignal(pid, 'SIGKILL');
    if (!this.#isNew || !this.isHeld) await this.#renew();
  }

  /** Another one, without any network in it, in place of what may be left of one. */
  async #renew(): Promise<void> {
    await this.end();
    await endLeftBehind(this.#options.stateDir);
    const { tools, stateDir } = this.#options;
    const namespaces = ['--user', '--map-root-user', '--net', '--mount', '--propagation', 'slave'];
    const env = { [MACHINE_MARK]: stateDir };
    const asleep = realpathSync(tools.sleep);
    const { pid, start } = await this.#start(
      [tools.unshare, ...namespaces, '--', tools.sleep, 'infinity'],
      env,
      async (pid) => {
        return (await readlink(`/proc/${pid}/exe`).catch(() => '')) === asleep;
      },
    );
    this.#save({ holder: { pid, start }, pasta: null });
    const run = (argv: readonly string[]): Promise<string> => runTool([...this.inside(null), ...argv]);
    // Names of namespaces are kept below it, and nobody but root may do so in the machine's.
    await run([tools.mount, '-t', 'tmpfs', '-o', 'mode=0755,size=1m', 'tancho', '/run']);
    this.#isNew = true;
  }

  /** Has pasta run. */
  async connect(plan: AddressPlan): Promise<void> {
    if (!lives(this.#note.pasta ?? NOBODY)) {
      const { pid } = this.#note.holder;
      const { child, ...pasta } = await this.#start(this.#pasta(plan), {}, async () => {
        const routes = await readFile(`/proc/${pid}/net/route`, 'latin1').catch(() => '');
        return DEFAULT_ROUTE.test(routes);
      });
      this.#save({ ...this.#note, pasta });
      this.#reportEnd(pasta, child);
    }
    const open = listeningPorts(readFileSync('/proc/self/net/tcp', 'latin1'), this.doorHost, process.getuid?.() ?? 0);
    const all = Array.from({ length: DOORS.to - DOORS.from + 1 }, (_, index) => DOORS.from + index);
    this.#unopened = new Set(all.filter((door) => !open.has(door)));
    if (open.size === 0) throw new Error(`pasta does not listen at ${this.doorHost}`);
  }

  #reportEnd({ pid, start }: ProcessId, child: ChildProcess): void {
    const since = performance.now();
    const report = (): void => {
      const noted = this.#read()?.pasta;
      // Else somebody has ended it who knows why.
      if (noted?.pid === pid && noted.start === start) this.onLost();
    };
    // One that cannot go on is not started again and again.
    const later = (): void =>
      void setTimeout(report, performance.now() - since < WELL_AFTER_MS ? AGAIN_AFTER_MS : 0).unref();
    if (child.exitCode === null && child.signalCode === null) child.once('exit', later);
    else later();
  }

  #pasta(plan: AddressPlan): string[] {
    const { pid } = this.#note.holder;
    return [
      ...[this.#options.tools.pasta, '--foreground', '--quiet', '--config-net', '--ipv4-only', '--no-dhcp'],
      ...['--ns-ifname', WAY_OUT, '--address', addressAt(plan, OUTSIDE.own), '--netmask', `${OUTSIDE.bits}`],
      ...['--gateway', addressAt(plan, OUTSIDE.host), '--tcp-ports', `${this.doorHost}/${DOORS.from}-${DOORS.to}`],
      ...['--udp-ports', 'none', '--tcp-ns', 'none', '--udp-ns', 'none'],
      ...['--userns', this.userNamespace, '--netns', `/proc/${pid}/ns/net`],
    ];
  }

  /** Ends it where this process has made it: in one of an earlier process there may be units. */
  async abandon(): Promise<void> {
    if (this.#isNew) await this.end();
  }

  /** With all that is in it, but for the processes of units. */
  async end(): Promise<void> {
    const { holder, pasta } = this.#read() ?? this.#note;
    this.#save({ holder, pasta: null });
    for (const { pid, start } of [pasta ?? NOBODY, holder]) {
      const deadline = Date.now() + START_DEADLINE_MS;
      for (let isSent = false; isAlive(pid, start) && Date.now() < deadline; isSent = true) {
        if (!isSent) sendSignal(pid, 'SIGKILL');
        await delay(POLL_MS);
      }
    }
    rmSync(this.#path, { force: true });
    this.#note = { holder: NOBODY, pasta: null };
  }

  /** Starts a process that outlives this one, and waits until it has done what it is to do first. Throws with what it wrote. */
  async #start(
    argv: readonly string[],
    env: Readonly<Record<string, string>>,
    isUp: (pid: number) => Promise<boolean>,
  ): Promise<ProcessId & { readonly child: ChildProcess }> {
    const [file = '', ...args] = argv;
    const output = `${this.#path}.output`;
    const descriptor = openSync(output, 'w', 0o600);
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', ...env },
      stdio: ['ignore', 'ignore', descriptor],
      detached: true,
    });
    closeSync(descriptor);
    child.on('error', () => undefined);
    child.unref();
    const pid = child.pid ?? 0;
    const start = pid === 0 ? '' : (readProcess(pid)?.start ?? '');
    const deadline = Date.now() + START_DEADLINE_MS;
    while (isAlive(pid, start) && Date.now() < deadline) {
      if (await isUp(pid)) return { pid, start, child };
      await delay(POLL_MS);
    }
    child.kill('SIGKILL');
    const why = readFileSync(output, 'utf8').trim().slice(0, 300);
    throw new Error(`${file} did not come up: ${why || 'it wrote nothing'}`);
  }

  #save(note: MachineNote): void {
    const draft = `${this.#path}.new`;
    writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
    renameSync(draft, this.#path);
    this.#note = note;
  }

  #read(): MachineNote | null {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as MachineNote;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null;
      throw error;
    }
  }
}

function lives({ pid, start }: ProcessId): boolean {
  return isAlive(pid, start);
}

/** Each home has a loopback address of its own, none of those that others use by habit. */
export function doorHostOf(scope: string): string {
  const [a = 0, b = 0, c = 0] = [0, 2, 4].map((at) => Number.parseInt(scope.slice(at, at + 2), 16));
  return `127.${64 + (a % 128)}.${b}.${1 + (c % 254)}`;
}

/** Pure: the ports of a loopback address at which this user listens, from the kernel's table. */
export function listeningPorts(table: string, host: string, uid: number): Set<number> {
  const address = host
    .split('.')
    .toReversed()
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('');
  const found = new Set<number>();
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', , state, , , , user = ''] = line.trim().split(/\s+/);
    const [at = '', port = ''] = local.split(':');
    if (state !== LISTENS || at !== address.toUpperCase() || Number(user) !== uid) continue;
    found.add(Number.parseInt(port, 16));
  }
  return found;
}
