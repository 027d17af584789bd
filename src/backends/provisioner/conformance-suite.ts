/** Test support: what the cases of the provisioner's suite stand on. */
import { it } from 'vitest';
import type { Placement } from '../../domain/pools/placement.ts';
import type {
  OutputChunk,
  Provisioner,
  ReadyCheck,
  Supports,
  UnitExited,
  UnitSpec,
} from '../../domain/units/provisioner.ts';
import { Failure } from '../../domain/failure.ts';
import type { Address } from '../../domain/units/unit.ts';
import { hostPort } from '../../lib/host-port.ts';

/** Command lines with agreed behaviour, in whatever language the implementation's units speak. */
export interface ConformanceCommands {
  /** Prints `listening`, answers on PORT: 200 `hello` at `/`, 500 at `/broken`; ends with code 7 after `/crash`, looks at nothing any more after `/hang`, prints the query of `/say?...` as a line. */
  readonly serve: string;
  /** Listens, but not on PORT. */
  readonly serveElsewhere: string;
  /** Prints `last words`, ends with code 3. */
  readonly exit3: string;
  /** Ends by SIGKILL, sent by nobody else than itself. */
  readonly killSelf: string;
  /** Prints `one`, `two`, `three`, then stays. */
  readonly printAndStay: string;
  /** Prints `<TANCHO_APP> <TANCHO_UNIT> <TANCHO_PROCESS> <GREETING>`, then ends with code 0. */
  readonly printEnvironment: string;
  /** Prints `ready`, stays, ignores TERM. */
  readonly stubborn: string;
  /** Takes memory until it is stopped. */
  readonly grow: string;
  /** Some megabytes of lines, then `last`, and stays. */
  readonly printMuch: string;
  /** One-off: prints `out`, then `err` on standard error, ends with code 4. */
  readonly runAndFail: string;
  /** One-off: runs for minutes. */
  readonly runLong: string;
}

export interface ConformanceWorld {
  readonly provisioner: Provisioner;
  readonly commands: ConformanceCommands;
  /** The same as they are typed into a shell, where units are given lists of arguments. Absent: as they are. */
  readonly typed?: Pick<ConformanceCommands, 'printEnvironment' | 'exit3'>;
  readonly artifact: string;
  /** That the artifact was made of; absent: none. */
  readonly image?: string;
  /** Of all its units; absent: none. */
  readonly placement?: Placement | null;
  /** A new provisioner over the same units, as after a restart of control; the old one is closed. */
  restart(): Promise<Provisioner>;
  /** Ends a unit behind the provisioner's back, as an operator's kill would. */
  killBehind(id: string): Promise<void>;
  dispose(): Promise<void>;
}

export interface ConformanceOptions {
  readonly create: () => Promise<ConformanceWorld>;
  /** True, or why not. */
  readonly supports: { readonly memoryLimit: true | string; readonly shell: true | string };
  /** Whether what listens can be looked at, not only asked: on other ports, and whether it accepts. True, or why not; absent: true. */
  readonly listeners?: true | string;
  /** What a unit has as TANCHO_UNIT that is to be called `shop/0`. Absent: that. */
  readonly unitName?: RegExp;
  /** Absent: the platform. */
  readonly restarts?: Supports['restarts'];
  /** Its units are no processes, so cases of the long form cost nothing and run always. Absent: they are. */
  readonly isCheap?: true;
}

export const UNLIMITED = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
export const NEVER = new AbortController().signal;
export const SERVES: ReadyCheck = { listens: true, healthCheck: null, timeoutMs: 180_000, watchMs: 0 };
/** Watched long enough for the agreed commands that end at once. */
export const STAYS: ReadyCheck = { listens: false, healthCheck: null, timeoutMs: 180_000, watchMs: 600 };

/** One run of the suite: its world, renewed for every case, and what cases have in common. */
export class Suite {
  readonly supports: ConformanceOptions['supports'];
  readonly restarts: Supports['restarts'];
  readonly listeners: true | string;
  readonly unitName: RegExp;
  counted = 0;
  exits: UnitExited[] = [];
  readonly #options: ConformanceOptions;
  readonly #isLong: boolean;
  #world: ConformanceWorld | null = null;
  #provisioner: Provisioner | null = null;

  constructor(options: ConformanceOptions, isLong: boolean) {
    this.#options = options;
    this.#isLong = isLong;
    this.supports = options.supports;
    this.restarts = options.restarts ?? 'platform';
    this.listeners = options.listeners ?? true;
    this.unitName = options.unitName ?? /^shop\/0$/;
  }

  get world(): ConformanceWorld {
    if (this.#world === null) throw new Error('There is a world only within a case.');
    return this.#world;
  }

  get provisioner(): Provisioner {
    return this.#provisioner ?? this.world.provisioner;
  }

  async open(): Promise<void> {
    this.#world = await this.#options.create();
    this.#provisioner = null;
    this.exits = [];
    this.listen();
  }

  async close(): Promise<void> {
    await this.#world?.dispose();
    this.#world = null;
  }

  async restart(): Promise<void> {
    this.#provisioner = await this.world.restart();
  }

  listen(): void {
    const { exits } = this;
    this.provisioner.onExit((exited) => exits.push(exited));
  }

  /** `needs`: true, or why this implementation cannot be asked. */
  test(title: string, body: () => Promise<void>, needs: true | string = true): void {
    this.counted += 1;
    if (needs === true) {
      it(title, body);
      return;
    }
    it(title, ({ skip }) => skip(needs));
  }

  /** A case for the long form only, unless the implementation is cheap. */
  testLong(title: string, body: () => Promise<void>, needs: true | string = true): void {
    if (this.#isLong) this.test(title, body, needs);
    else this.counted += 1;
  }

  spec(command: string, changes: Partial<UnitSpec> = {}): UnitSpec {
    return {
      id: 'aaaaaaaaaaaa',
      app: 'shop',
      name: 'shop/0',
      process: 'web',
      rollout: 'first',
      artifact: this.world.artifact,
      image: this.world.image ?? '',
      placement: this.world.placement ?? null,
      command,
      env: {},
      listens: true,
      limits: UNLIMITED,
      ...changes,
    };
  }

  async startServing(changes: Partial<UnitSpec> = {}): Promise<{ unit: UnitSpec; address: Address }> {
    const unit = this.spec(this.world.commands.serve, changes);
    await this.provisioner.ensure(unit);
    const address = await this.provisioner.ready(unit.id, SERVES, NEVER);
    if (address === null) throw new Error('A unit that listens has an address.');
    return { unit, address };
  }

  async firstChunk(id: string): Promise<OutputChunk> {
    for await (const chunk of this.provisioner.output(id, null, AbortSignal.timeout(60_000))) return chunk;
    throw new Error('There is no output.');
  }

  async readAll(id: string, after: string | null = null): Promise<Output> {
    const lines: string[] = [];
    let cursor = after;
    for await (const chunk of this.provisioner.output(id, after, AbortSignal.timeout(60_000))) {
      lines.push(...chunk.lines.map(({ text }) => text));
      cursor = chunk.cursor;
    }
    return { lines, cursor };
  }

  async readUntil(id: string, last: string, after: string | null = null): Promise<Output> {
    const lines: string[] = [];
    for await (const chunk of this.provisioner.output(id, after, AbortSignal.timeout(60_000))) {
      lines.push(...chunk.lines.map(({ text }) => text));
      if (lines.includes(last)) return { lines, cursor: chunk.cursor };
    }
    throw new Error(`The line ${last} did not come; came: ${lines.join(' | ')}`);
  }
}

interface Output {
  readonly lines: readonly string[];
  readonly cursor: string | null;
}

export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const thrown = await work.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error,
  );
  if (!(thrown instanceof Failure)) throw thrown;
  return thrown;
}

export async function get(address: Address, path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://${hostPort(address)}${path}`, { headers: { connection: 'close' } });
  return { status: response.status, body: await response.text() };
}
