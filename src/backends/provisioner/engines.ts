/** Several provisioners as one; which has which unit is known from starts and handles, and asked of all where it is not. */
import { PlatformError } from '../../domain/errors.ts';
import type { Placement } from '../../domain/pools/placement.ts';
import type { UnitProcess } from '../../domain/routes/router.ts';
import type { EngineFacts, Engines } from '../../domain/units/engines.ts';
import type {
  Comeback,
  ExecRequest,
  ExecResult,
  LinkedApp,
  OutputChunk,
  OutputFile,
  Probe,
  ProbeResult,
  Provisioner,
  ReadyCheck,
  Shell,
  ShellRequest,
  UnitExited,
  UnitSpec,
  SeenUnit,
  UnitUsage,
} from '../../domain/units/provisioner.ts';
import type { Address } from '../../domain/units/unit.ts';
import type { Say } from '../../domain/say.ts';
import { type Logger, SILENT } from '../../lib/logger.ts';

/** Between the name of an engine and its handle. Of units whose placement names none, handles have neither. */
const MARK = '|';

/** By name; the first is the server's own. */
export function createEngines(
  provisioners: ReadonlyMap<string, Provisioner>,
  logger: Pick<Logger, 'error'> = SILENT,
): Engines {
  const [own] = provisioners;
  if (own === undefined) throw new Error('A server has at least one engine.');
  return new EngineSet(own, provisioners, logger);
}

class EngineSet implements Engines {
  readonly engines: readonly EngineFacts[];
  readonly #ownName: string;
  readonly #own: Provisioner;
  readonly #all: ReadonlyMap<string, Provisioner>;
  /** Of units that are not on the server's own. */
  readonly #homes = new Map<string, Provisioner>();

  readonly #logger: Pick<Logger, 'error'>;

  constructor(
    [name, own]: readonly [string, Provisioner],
    all: ReadonlyMap<string, Provisioner>,
    logger: Pick<Logger, 'error'>,
  ) {
    this.#logger = logger;
    this.#ownName = name;
    this.#own = own;
    this.#all = all;
    this.engines = [...all].map(([engine, provisioner]) => factsOf(engine, provisioner));
  }

  get here(): Provisioner[] {
    return [...this.#all.values()].filter(({ supports }) => supports.controls === 'one');
  }

  get name(): string {
    return this.#own.name;
  }
  get supports(): Provisioner['supports'] {
    return this.#own.supports;
  }
  get poolOptions(): Provisioner['poolOptions'] {
    return this.#own.poolOptions;
  }
  get description(): string {
    return this.#own.description;
  }

  at(placement: Placement | null): EngineFacts {
    return factsOf(placement?.engine ?? this.#ownName, this.#engineOf(placement));
  }

  of(unit: string): EngineFacts {
    const home = this.#home(unit);
    const name = [...this.#all].find(([, engine]) => engine === home)?.[0] ?? this.#ownName;
    return factsOf(name, home);
  }

  async ensure(spec: UnitSpec): Promise<string> {
    const engine = this.#engineOf(spec.placement);
    if (engine !== this.#own) this.#homes.set(spec.id, engine);
    const handle = await engine.ensure(spec);
    const named = spec.placement?.engine;
    return named === undefined ? handle : `${named}${MARK}${handle}`;
  }

  ready(id: string, check: ReadyCheck, signal: AbortSignal, say?: Say): Promise<Address | null> {
    return this.#home(id).ready(id, check, signal, say);
  }

  probe(id: string, probe: Probe, signal: AbortSignal): Promise<ProbeResult> {
    return this.#home(id).probe(id, probe, signal);
  }

  async stop(id: string, graceMs: number, isToComeBack?: boolean): Promise<void> {
    await Promise.all(this.#holders(id).map((engine) => engine.stop(id, graceMs, isToComeBack)));
  }

  async remove(id: string): Promise<void> {
    await Promise.all(this.#holders(id).map((engine) => engine.remove(id)));
    // What it has printed may still be read: from then on all are asked.
    this.#homes.delete(id);
  }

  async list(): Promise<SeenUnit[]> {
    const lists = [...this.#all.values()].map(async (engine) => {
      const units = await engine.list();
      if (engine !== this.#own) for (const { id } of units) this.#homes.set(id, engine);
      return units;
    });
    return (await Promise.all(lists)).flat();
  }

  processOf(id: string): UnitProcess | null {
    return this.#home(id).processOf(id);
  }

  async usage(): Promise<ReadonlyMap<string, UnitUsage>> {
    const all = await this.#each((engine) => engine.usage());
    return new Map(all.flatMap((usage) => [...usage]));
  }

  async recover(handles: ReadonlyMap<string, string>): Promise<Set<string>> {
    const running = [...this.#all].map(([name, engine]) => {
      const own = [...handles].flatMap(([id, handle]) => {
        const given = this.#handleFor(name, handle);
        return given === null ? [] : [[id, given] as const];
      });
      if (engine !== this.#own) for (const [id] of own) this.#homes.set(id, engine);
      return engine.recover(new Map(own));
    });
    return new Set((await Promise.all(running)).flatMap((ids) => [...ids]));
  }

  async listed(): Promise<void> {
    await this.#each(async (engine) => engine.listed?.());
  }

  async comebacks(ids: ReadonlySet<string>): Promise<Comeback[]> {
    return (await this.#each((engine) => engine.comebacks(ids))).flat();
  }

  async comebackNoted(id: string): Promise<void> {
    await Promise.all(this.#holders(id).map((engine) => engine.comebackNoted?.(id)));
  }

  onExit(listener: (exited: UnitExited) => void): void {
    for (const engine of this.#all.values()) engine.onExit(listener);
  }

  output(id: string, after: string | null, signal: AbortSignal): AsyncIterable<OutputChunk> {
    return this.#homes.get(id)?.output(id, after, signal) ?? this.#outputs(id, after, signal);
  }

  async *#outputs(id: string, after: string | null, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    for (const engine of this.#holders(id)) yield* engine.output(id, after, signal);
  }

  outputFile(id: string, after: string | null): OutputFile | null {
    const homes = this.#holders(id).map((engine) => engine.outputFile?.(id, after) ?? null);
    return homes.find((file) => file !== null) ?? null;
  }

  async consumed(id: string, cursor: string): Promise<void> {
    await Promise.all(this.#holders(id).map((engine) => engine.consumed(id, cursor)));
  }

  async giveUp(id: string, after: string | null): Promise<boolean> {
    const given = await Promise.all(this.#holders(id).map((engine) => engine.giveUp(id, after)));
    return given.includes(true);
  }

  async holdOutput(): Promise<string[]> {
    return (await this.#each((engine) => engine.holdOutput())).flat();
  }

  async lastLines(id: string, count: number): Promise<string[]> {
    return (await Promise.all(this.#holders(id).map((engine) => engine.lastLines(id, count)))).flat();
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    const { guarded, broken } = guardedOutput(request);
    try {
      return await this.#engineOf(request.unit.placement).exec(guarded);
    } finally {
      // Whatever the engine makes of it: a command may have ended well before that.
      broken.throwIfAborted();
    }
  }

  async shell(request: ShellRequest): Promise<Shell> {
    const { guarded, broken } = guardedOutput(request);
    const report = (): void => this.#logger.error({ err: broken.reason as unknown }, 'the output of a shell is lost');
    broken.addEventListener('abort', report, { once: true });
    return this.#engineOf(request.unit.placement).shell(guarded);
  }

  /** Apps reach each other within an engine. */
  async link(apps: readonly LinkedApp[]): Promise<void> {
    await this.#each((engine) =>
      engine.link(
        apps.map((app) => ({ ...app, targets: app.targets.filter(({ unit }) => this.#home(unit) === engine) })),
      ),
    );
  }

  routed(units: ReadonlySet<string>): void {
    for (const engine of this.#all.values()) engine.routed?.(units);
  }

  async networkFault(): Promise<string | null> {
    return (await this.#each((engine) => engine.networkFault())).find((fault) => fault !== null) ?? null;
  }

  async mendNetworks(): Promise<void> {
    await this.#each((engine) => engine.mendNetworks());
  }

  async writtenData(id: string): Promise<string[]> {
    return this.#home(id).writtenData(id);
  }

  async close(): Promise<void> {
    await this.#each((engine) => engine.close());
  }

  #engineOf(placement: Placement | null | undefined): Provisioner {
    if (placement === null || placement === undefined) return this.#own;
    const engine = this.#all.get(placement.engine);
    if (engine !== undefined) return engine;
    throw new PlatformError('unavailable', `This server has no engine ${placement.engine} any more.`, {
      hint: 'Ask an operator to set it up again, or move the app: tancho app update <app> --pool <pool>.',
    });
  }

  #home(id: string): Provisioner {
    return this.#homes.get(id) ?? this.#own;
  }

  #holders(id: string): Provisioner[] {
    const home = this.#homes.get(id);
    return home === undefined ? [...this.#all.values()] : [home];
  }

  /** Handles of what is the server's own now may be of a time when it was another one beside it. */
  #handleFor(name: string, handle: string): string | null {
    const mark = handle.indexOf(MARK);
    const isMarked = mark > 0 && this.#all.has(handle.slice(0, mark));
    const engine = isMarked ? handle.slice(0, mark) : this.#ownName;
    if (engine !== name) return null;
    return isMarked ? handle.slice(mark + 1) : handle;
  }

  #each<T>(work: (engine: Provisioner) => Promise<T>): Promise<T[]> {
    return Promise.all([...this.#all.values()].map(work));
  }
}

/**
 * Engines give output from handlers of streams, where what is thrown would end the server: here it ends what has printed it, and is the
 * reason of `broken`.
 */
function guardedOutput<R extends ExecRequest | ShellRequest>(request: R): { guarded: R; broken: AbortSignal } {
  const controller = new AbortController();
  const output: ExecRequest['output'] = (bytes) => {
    try {
      return request.output(bytes);
    } catch (error) {
      controller.abort(error);
    }
  };
  const signal = AbortSignal.any([request.signal, controller.signal]);
  return { guarded: { ...request, output, signal }, broken: controller.signal };
}

function factsOf(name: string, { description, poolOptions, supports }: Provisioner): EngineFacts {
  return { name, description, poolOptions, supports };
}
