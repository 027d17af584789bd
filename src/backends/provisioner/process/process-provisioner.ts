/**
 * Runs units as processes of this machine, inside a Sandbox. Owns the directory of units and their processes; does not own
 * slugs (the builder does), nor decide what runs, nor route to it. Units are nobody's children: they outlive this process.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
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
} from '../../../domain/units/provisioner.ts';
import { DiskWriters } from '../../../domain/disk/disk-writers.ts';
import { Failure } from '../../../domain/failure.ts';
import type { UnitProcess } from '../../../domain/routes/router.ts';
import type { Address } from '../../../domain/units/unit.ts';
import { KeyedQueue } from '../../../lib/keyed-queue.ts';
import { bestEffort } from '../../../lib/logger.ts';
import { bootId } from '../../../lib/processes.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { ReachedService } from '../../../networks/networks.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import { probeHttp } from '../http-check.ts';
import { candidateOf } from './candidate.ts';
import { CodeLayers, writtenBeside } from './code-layers.ts';
import { comebackOf, comebacksOf } from './comebacks.ts';
import { dropLaunch, keepLaunch } from './kept-launch.ts';
import { clearCommands, endUnrecorded, ONE_OFFS, unitIds } from './left-behind.ts';
import { linkApps } from './linked-names.ts';
import { LiveUnit } from './live-unit.ts';
import { runOneOff } from './one-off.ts';
import type { Beside } from './one-off-place.ts';
import { DEFAULT_READINESS, waitReady } from './readiness.ts';
import { processSupports } from './process-supports.ts';
import type { ProcessProvisionerOptions } from './provisioner-options.ts';
import { reachedServices } from './reached-services.ts';
import { openShell } from './shell.ts';
import { openSlug, type Slug } from './slug.ts';
import { launchTurns, launchUnit, newRecord, startFailure } from './unit-launch.ts';
import { offsetOf, UnitOutputs } from './unit-outputs.ts';
import { UnitPorts } from './unit-ports.ts';
import {
  loadRecord,
  makeUnitDirectories,
  removeUnitDirectories,
  unitPaths,
  type UnitPaths,
  type UnitRecord,
} from './unit-record.ts';
import { UnitWatch } from './unit-watch.ts';
import { writtenData } from './written-data.ts';
import type { Say } from '../../../domain/say.ts';

/** How long output of a removed unit waits to be read. */
const REMOVED_OUTPUT_MS = 10 * 60_000;
const QUOTED_LINES = 50;

export async function createProcessProvisioner(options: ProcessProvisionerOptions): Promise<Provisioner> {
  await mkdir(options.units, { recursive: true, mode: 0o711 });
  const layers = await CodeLayers.open(options.sandbox, options.units, options.quotas);
  await clearCommands(options.units, options.logger);
  const provisioner = new ProcessProvisioner(options, layers);
  await provisioner.load();
  return provisioner;
}

class ProcessProvisioner implements Provisioner {
  readonly name = 'process';
  readonly supports: Provisioner['supports'];
  /** It is one machine. */
  readonly poolOptions = {};
  readonly #options: ProcessProvisionerOptions;
  readonly #sandbox: Sandbox;
  readonly #layers: CodeLayers;
  readonly #units = new Map<string, LiveUnit>();
  readonly #queue = new KeyedQueue();
  readonly #launches = launchTurns();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #watch: UnitWatch;
  readonly #ports: UnitPorts;
  readonly #specs = new Map<string, UnitSpec>();
  /** Ids of units that this process starts now: they come to life or fail by themselves. */
  readonly #starting = new Set<string>();
  #listener: ((exited: UnitExited) => void) | null = null;
  readonly #outputs: UnitOutputs;

  constructor(options: ProcessProvisionerOptions, layers: CodeLayers) {
    this.#options = options;
    this.#sandbox = options.sandbox;
    this.#layers = layers;
    this.#outputs = new UnitOutputs(options.logger);
    const { networks } = options.sandbox;
    const units = (): LiveUnit[] => [...this.#units.values()];
    this.#ports = new UnitPorts({ range: options.portRange ?? null, isOwn: networks, units, sandbox: options.sandbox });
    this.supports = processSupports(options);
    this.#watch = new UnitWatch({ sandbox: options.sandbox, units: this.#units, logger: options.logger });
  }

  get description(): string {
    const watched = this.#sandbox.limits.memory ? '' : '; memory is watched once a second instead';
    const code = this.#layers.protection === 'read-only' ? '; code is read-only, for no layer can be put over it' : '';
    const quotas = this.#options.quotas?.missing === null ? '; quotas on the disk' : '';
    return `${this.#sandbox.description}${watched}${code}${quotas}${this.#outputs.description}`;
  }

  /** Finds the units on disk. Those of an earlier boot, and those whose start was interrupted, are dead. */
  async load(): Promise<void> {
    const boot = bootId();
    const unrecorded: Promise<void>[] = [];
    for (const id of await unitIds(this.#options.units)) {
      const paths = unitPaths(this.#options.units, id);
      const record = await loadRecord(paths);
      if (record === null) {
        unrecorded.push(endUnrecorded(id, this.#options));
        continue;
      }
      const isLost = record.bootId !== boot || record.state === 'starting';
      const nobody = { rootPid: 0, rootStart: '', mainPid: 0, mainStart: '' };
      const unit = this.#adopt(paths, isLost ? { ...record, ...nobody } : record);
      if (record.removedAt !== null) this.#expireOutput(unit);
    }
    await Promise.all(unrecorded);
  }

  async ensure(spec: UnitSpec): Promise<string> {
    return this.#queue.run(spec.id, async () => {
      const existing = this.#units.get(spec.id);
      if (existing !== undefined && !existing.isDead && existing.record.state === 'running') return spec.id;
      await this.#start(spec, existing);
      return spec.id;
    });
  }

  async #start(spec: UnitSpec, existing: LiveUnit | undefined): Promise<void> {
    const paths = unitPaths(this.#options.units, spec.id);
    const slug = await this.#slug(spec);
    const port = spec.listens ? await this.#ports.ofUnit(existing?.record.port ?? null, { spec, slug }) : null;
    this.#specs.set(spec.id, spec);
    this.#starting.add(spec.id);
    try {
      const known = existing?.record;
      const record = {
        ...newRecord(spec, slug, port, known?.freed ?? 0),
        ...(this.#options.isKeeper === true && comebackOf(known)),
      };
      const unit = existing ?? this.#adopt(paths, { ...record, state: 'dead' });
      await unit.revive();
      // What it has written went with its life, and so does what made it outgrow its limit.
      if (existing !== undefined) await removeUnitDirectories(paths);
      await makeUnitDirectories(paths);
      await unit.save(record);
      const around = { sandbox: this.#sandbox, layers: this.#layers, services: await this.#servicesOf(spec) };
      const { volumes = '' } = this.#options;
      await this.#launches.run(() => launchUnit({ unit, spec, slug, volumes, ...around }));
    } catch (error) {
      const lines = await this.lastLines(spec.id, QUOTED_LINES);
      const unit = this.#units.get(spec.id);
      if (existing === undefined && unit !== undefined) await this.#forget(unit);
      throw startFailure(spec.process, error, lines);
    } finally {
      this.#starting.delete(spec.id);
      if (port !== null) this.#ports.begun(port);
    }
  }

  async #slug(spec: UnitSpec): Promise<Slug> {
    const { artifact, app } = spec;
    return openSlug({ artifacts: this.#options.artifacts, artifact, app, sandbox: this.#sandbox, queue: this.#queue });
  }

  async #servicesOf({ services = [] }: UnitSpec): Promise<ReachedService[]> {
    const { guard, logger } = this.#options;
    return guard === undefined || !this.#sandbox.networks ? [] : reachedServices(services, { guard, logger });
  }

  async ready(id: string, check: ReadyCheck, signal: AbortSignal, say?: Say): Promise<Address | null> {
    const unit = this.#units.get(id);
    if (unit === undefined) {
      throw new Failure('exited', 'The unit is not there.', { hint: 'Start it first.' });
    }
    const { artifacts, readiness: limits = DEFAULT_READINESS } = this.#options;
    const lastLines = (): Promise<string[]> => this.lastLines(id, QUOTED_LINES);
    const artifact = this.#specs.get(id)?.artifact;
    const candidate = candidateOf(unit, { sandbox: this.#sandbox, artifacts, artifact, lastLines });
    const address = await waitReady(candidate, check, { signal, limits, say });
    await this.#noteReady(unit, address);
    return address;
  }

  async #noteReady(unit: LiveUnit, address: Address | null): Promise<void> {
    const { sealer, isKeeper = false } = this.#options;
    if (isKeeper) return unit.save({ readyAt: address });
    if (sealer === undefined) return;
    await this.#queue.run(unit.id, async () => {
      const spec = this.#specs.get(unit.id);
      // It may have been stopped meanwhile, and nobody is to start it again then.
      if (spec !== undefined && !unit.isDead) await keepLaunch(unit.paths, spec, sealer);
    });
  }

  async probe(id: string, probe: Probe, signal: AbortSignal): Promise<ProbeResult> {
    const unit = this.#units.get(id);
    if (unit === undefined || unit.isDead) return { kind: 'unknown' };
    if (probe.kind === 'http') return probeHttp(probe, unit.record.app, signal);
    const { address, timeoutMs } = probe;
    const behind = this.#sandbox.behindDoor(id);
    return unit.accepts.probe({ address, behind, timeoutMs, signal, pids: () => unit.networkPids() });
  }

  async stop(id: string, graceMs: number, isToComeBack = false): Promise<void> {
    await this.#queue.run(id, async () => {
      const unit = this.#units.get(id);
      if (unit === undefined) return;
      // First, so that nobody starts it again whatever happens to this process meanwhile.
      if (!isToComeBack) await dropLaunch(unit.paths);
      await unit.stop(graceMs);
      // Others need the room until then. What cannot be removed now goes before the next start.
      if (isToComeBack) await this.#removeWritten(unit).catch(() => undefined);
    });
  }

  async #removeWritten({ paths }: LiveUnit): Promise<void> {
    await removeUnitDirectories(paths);
    await this.#layers.clear(paths.directory);
  }

  async remove(id: string): Promise<void> {
    await this.#queue.run(id, async () => {
      const unit = this.#units.get(id);
      if (unit === undefined) return;
      await dropLaunch(unit.paths);
      await unit.stop(0);
      await this.#removeWritten(unit);
      if (await this.#outputs.isAllConsumed(unit)) return this.#forget(unit);
      if (unit.record.removedAt !== null) return;
      await unit.save({ removedAt: Date.now() });
      this.#expireOutput(unit);
    });
  }

  async list(): Promise<SeenUnit[]> {
    return [...this.#units.values()].filter(({ record }) => record.removedAt === null).map((unit) => unit.seen());
  }

  processOf(id: string): UnitProcess | null {
    return this.#units.get(id)?.sharedProcess ?? null;
  }

  async usage(): Promise<ReadonlyMap<string, UnitUsage>> {
    const running = [...this.#units.values()].filter(({ isDead, record }) => !isDead && record.rootPid > 0);
    return this.#sandbox.usage(running.map(({ tree }) => tree));
  }

  async recover(handles: ReadonlyMap<string, string>): Promise<Set<string>> {
    const units = [...this.#units.values()];
    await Promise.all(
      units.map(async (unit) => {
        if (this.#starting.has(unit.id)) return;
        // What survives KILL, or cannot be cleared away, keeps no other from being found.
        await bestEffort(this.#options.logger, `finding unit ${unit.id} again`, () => unit.find());
        this.#report(unit);
      }),
    );
    return new Set([...handles.keys()].filter((id) => this.#units.get(id)?.record.state === 'running'));
  }

  async comebacks(ids: ReadonlySet<string>): Promise<Comeback[]> {
    return [...this.#units.values()].filter(({ id }) => ids.has(id)).flatMap(comebacksOf);
  }

  comebackNoted = async (id: string): Promise<void> => this.#units.get(id)?.save({ comebacks: [] });

  onExit(listener: (exited: UnitExited) => void): void {
    this.#listener = listener;
    for (const unit of this.#units.values()) this.#report(unit);
  }

  async *output(id: string, after: string | null, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    const unit = this.#units.get(id);
    if (unit !== undefined) yield* this.#outputs.follow(unit, after, signal);
  }

  outputFile(id: string, after: string | null): OutputFile | null {
    const unit = this.#units.get(id);
    return unit === undefined ? null : this.#outputs.fileOf(unit, offsetOf(after));
  }

  async consumed(id: string, cursor: string): Promise<void> {
    const offset = offsetOf(cursor);
    await this.#queue.run(`output:${id}`, async () => {
      const unit = this.#units.get(id);
      if (unit === undefined) return;
      this.#outputs.noteConsumed(unit, offset);
      if (unit.record.removedAt !== null && (await this.#outputs.isAllConsumed(unit))) return this.#forget(unit);
      await this.#outputs.free(unit, offset);
    });
  }

  async giveUp(id: string, after: string | null): Promise<boolean> {
    const unit = this.#units.get(id);
    if (unit === undefined) return false;
    return this.#queue.run(`output:${id}`, () => this.#outputs.giveUp(unit, offsetOf(after)));
  }

  async lastLines(id: string, count: number): Promise<string[]> {
    const unit = this.#units.get(id);
    return unit === undefined ? [] : this.#outputs.lastLines(unit, count);
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    return runOneOff({ request, ...(await this.#beside(request.unit)) });
  }

  async shell(request: ShellRequest): Promise<Shell> {
    return openShell({ request, ...(await this.#beside(request.unit)) });
  }

  /** What a process beside a unit needs to know. */
  async #beside(spec: UnitSpec): Promise<Beside> {
    const [slug, beside] = [await this.#slug(spec), this.#units.get(spec.id)];
    const directory = join(this.#options.units, ONE_OFFS);
    const services = await this.#servicesOf(spec);
    const { volumes = '', writers = new DiskWriters() } = this.#options;
    const theirs = beside === undefined || beside.isDead ? null : beside.record.port;
    const port = theirs ?? (await this.#ports.beside({ spec, slug }));
    return { sandbox: this.#sandbox, layers: this.#layers, slug, directory, port, services, volumes, writers };
  }

  async link(apps: readonly LinkedApp[]): Promise<void> {
    if (this.supports.links) await linkApps(this.#sandbox, apps);
  }

  holdOutput = (): Promise<string[]> => this.#outputs.hold(this.#units.values());
  networkFault = (): Promise<string | null> => this.#sandbox.networkFault();
  mendNetworks = (): Promise<void> => this.#sandbox.mendNetworks();

  async writtenData(id: string): Promise<string[]> {
    const unit = this.#units.get(id);
    return unit === undefined ? [] : writtenData(writtenBeside(unit.paths.directory));
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#watch.close();
    await Promise.all([...this.#units.values()].map((unit) => unit.leave()));
  }

  #adopt(paths: UnitPaths, record: UnitRecord): LiveUnit {
    const onDeath = (unit: LiveUnit): void => this.#report(unit);
    const unit = new LiveUnit(record, { paths, sandbox: this.#sandbox, logger: this.#options.logger, onDeath });
    this.#units.set(record.id, unit);
    return unit;
  }

  /** Hands a death to the listener, once; kept for the listener while there is none. */
  #report(unit: LiveUnit): void {
    const { id, state, exit, isReported } = unit.record;
    if (this.#listener === null || state !== 'dead' || exit === null || isReported) return;
    if (this.#options.isKeeper === true) return this.#listener({ id, ...exit });
    const saved = unit.save({ isReported: true });
    this.#listener({ id, ...exit });
    void bestEffort(this.#options.logger, 'noting that an exit was reported', () => saved);
  }

  async #forget(unit: LiveUnit): Promise<void> {
    await unit.leave();
    this.#units.delete(unit.id);
    this.#specs.delete(unit.id);
    this.#outputs.forget(unit.id);
    await removeTree(unit.paths.directory);
  }

  #expireOutput(unit: LiveUnit): void {
    const left = (unit.record.removedAt ?? 0) + REMOVED_OUTPUT_MS - Date.now();
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        if (this.#units.get(unit.id) !== unit || unit.record.removedAt === null) return;
        void bestEffort(this.#options.logger, 'removing output nobody read', () => this.#forget(unit));
      },
      Math.max(left, 0),
    );
    this.#timers.add(timer.unref());
  }
}
