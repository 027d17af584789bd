/**
 * Runs units inside this process, for tests of the domain: a real small implementation with real HTTP answers, no isolation
 * and no limits. The units live in a MemoryMachine, so that a second provisioner can find them as after a restart.
 */
import type {
  ExecRequest,
  ExecResult,
  OutputChunk,
  Probe,
  ProbeResult,
  Comeback,
  LinkedApp,
  Provisioner,
  ReadyCheck,
  Shell,
  ShellRequest,
  UnitExited,
  UnitSpec,
  SeenUnit,
  UnitUsage,
} from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import type { FailureCause } from '../../../domain/failure.ts';
import type { Address } from '../../../domain/units/unit.ts';
import type { HealthCheck } from '../../../domain/apps/app.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { openMemoryShell } from './memory-shell.ts';
import { environmentOf, type MemoryEntry, MemoryMachine } from './memory-machine.ts';
import { MemoryUnit, offsetOf } from './memory-unit.ts';

export { MemoryMachine } from './memory-machine.ts';

const POLL_MS = 2;
const LIMITS = { controls: 'several', memoryLimit: true, cpuLimit: true } as const;

export function createMemoryProvisioner(machine: MemoryMachine = new MemoryMachine()): Provisioner {
  return new MemoryProvisioner(machine);
}

class MemoryProvisioner implements Provisioner {
  readonly name = 'memory';
  /** The limits are kept with the unit, for whoever wants to see them; only that of memory could be exceeded by its commands. */
  readonly supports: Provisioner['supports'];
  readonly poolOptions = { shelf: { description: 'a lower-case word', pattern: /^[a-z]+$/ } };
  readonly description = 'memory: units inside this process, without isolation';
  readonly #machine: MemoryMachine;
  #listener: ((exited: UnitExited) => void) | null = null;
  /** Of units that live again: their deaths before this provisioner knew them are no news for the listener. */
  #comebacks: Comeback[] = [];
  readonly #known = new Set<string>();
  readonly #unwatch: () => void;

  constructor(machine: MemoryMachine) {
    this.#machine = machine;
    const { restarts, artifacts } = machine;
    this.supports = { shell: true, images: true, artifacts, volumes: 'anywhere', links: true, restarts, ...LIMITS };
    this.#unwatch = machine.watch((entry) => this.#deliver(entry));
  }

  async ensure(spec: UnitSpec): Promise<string> {
    const entry = this.#machine.entries.get(spec.id);
    this.#known.add(spec.id);
    if (entry === undefined || !this.#machine.isAtWork(entry)) this.#machine.start(spec);
    return spec.id;
  }

  async ready(id: string, check: ReadyCheck, signal: AbortSignal): Promise<Address | null> {
    const entry = this.#machine.entries.get(id);
    if (entry === undefined) throw new Failure('exited', 'The unit is not there.', { hint: 'Start it first.' });
    // Of an engine that restarts by itself: a death before is over, one from now on is a failure.
    const { deaths } = entry;
    const isToCome = (): boolean =>
      this.#machine.isAtWork(entry) && (entry.deaths === deaths || entry.lastExit?.isLost === true);
    const deadline = Date.now() + (check.listens ? check.timeoutMs : check.watchMs);
    let wrongAnswers = 0;
    for (;;) {
      if (signal.aborted) throw failure(entry, 'cancelled', 'Waiting was cancelled.');
      const { unit } = entry;
      const exit = unit.exit ?? (entry.deaths === deaths ? null : (entry.lastExit ?? null));
      if (exit !== null && !isToCome()) throw ended(entry, exit);
      if (check.listens && unit.port !== null) {
        if (unit.isElsewhere)
          throw failure(entry, 'wrong_port', `The process listens on port ${unit.port}, not on $PORT.`);
        const address = { host: '127.0.0.1', port: unit.port };
        const problem = await unhealthy(address, check.healthCheck);
        if (problem === null && entry.unit === unit) return address;
        if (problem === null) continue;
        wrongAnswers += 1;
        if (wrongAnswers > (check.healthCheck?.allowedFailures ?? 0))
          throw failure(entry, 'health_check_failed', problem);
      }
      if (Date.now() >= deadline) {
        if (!check.listens) return null;
        throw failure(entry, 'no_listener', 'The process runs but listens on no port.');
      }
      await delay(POLL_MS);
    }
  }

  async probe(id: string, probe: Probe, signal: AbortSignal): Promise<ProbeResult> {
    const unit = this.#machine.entries.get(id)?.unit;
    if (unit === undefined || unit.exit !== null || signal.aborted) return { kind: 'unknown' };
    if (probe.kind === 'accept') {
      if (unit.port === null) return { kind: 'unwell', detail: 'it takes no connections' };
      return unit.isHung ? { kind: 'unwell', detail: 'it accepted no connection' } : { kind: 'well' };
    }
    if (unit.isHung) return { kind: 'unwell', detail: 'no answer came' };
    const problem = await unhealthy(probe.address, probe.healthCheck).catch(() => 'It was not reached.');
    return problem === null ? { kind: 'well' } : { kind: 'unwell', detail: problem };
  }

  async stop(id: string, graceMs: number, isToComeBack = false): Promise<void> {
    const entry = this.#machine.entries.get(id);
    if (entry === undefined) return;
    entry.isStopped = !isToComeBack;
    entry.output.notice();
    const { unit } = entry;
    if (unit.exit !== null) return;
    await unit.signal('SIGTERM');
    const deadline = Date.now() + graceMs;
    while (unit.exit === null && Date.now() < deadline) await delay(POLL_MS);
    await unit.signal('SIGKILL');
    await unit.ended;
  }

  async remove(id: string): Promise<void> {
    const entry = this.#machine.entries.get(id);
    if (entry === undefined) return;
    await this.stop(id, 0);
    entry.isRemoved = true;
    this.#forgetIfRead(entry);
  }

  async list(): Promise<SeenUnit[]> {
    return [...this.#machine.entries.values()]
      .filter(({ isRemoved }) => !isRemoved)
      .map((entry) => this.#machine.seen(entry));
  }

  /** All units are in this process. */
  processOf(): null {
    return null;
  }

  async usage(): Promise<ReadonlyMap<string, UnitUsage>> {
    const running = [...this.#machine.entries].filter(([, { unit }]) => unit.exit === null);
    return new Map(running.map(([id]) => [id, this.#machine.usage.get(id) ?? { cpuMs: 0, memoryBytes: 0 }]));
  }

  async recover(handles: ReadonlyMap<string, string>): Promise<Set<string>> {
    for (const entry of this.#machine.entries.values()) {
      const { id } = entry.spec;
      const { unit, unreported } = entry;
      if (!this.#known.has(id) && unit.exit === null && unreported.length > 0) {
        const address = unit.port === null ? null : { host: '127.0.0.1', port: unit.port };
        this.#comebacks.push({ id, exits: unreported, address });
        entry.unreported = [];
      }
      this.#known.add(id);
      this.#report(entry);
    }
    return new Set([...handles.keys()].filter((id) => this.#machine.entries.get(id)?.unit.exit === null));
  }

  async comebacks(ids: ReadonlySet<string>): Promise<Comeback[]> {
    const asked = this.#comebacks.filter(({ id }) => ids.has(id));
    this.#comebacks = this.#comebacks.filter(({ id }) => !ids.has(id));
    return asked;
  }

  onExit(listener: (exited: UnitExited) => void): void {
    this.#listener = listener;
    for (const entry of this.#machine.entries.values()) this.#report(entry);
  }

  async *output(id: string, after: string | null, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    const entry = this.#machine.entries.get(id);
    if (entry === undefined) return;
    yield* entry.output.read(after, () => !this.#machine.isAtWork(entry), signal);
  }

  async consumed(id: string, cursor: string): Promise<void> {
    const entry = this.#machine.entries.get(id);
    if (entry === undefined) return;
    entry.consumed = Math.max(entry.consumed, offsetOf(cursor));
    this.#forgetIfRead(entry);
  }

  async giveUp(id: string, after: string | null): Promise<boolean> {
    return this.#machine.entries.get(id)?.output.giveUp(after) ?? false;
  }

  /** Its output is in memory. */
  async holdOutput(): Promise<string[]> {
    return [];
  }

  async lastLines(id: string, count: number): Promise<string[]> {
    return this.#machine.entries.get(id)?.output.last(count) ?? [];
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    const unit = new MemoryUnit({ ...request.unit, command: request.command }, environmentOf(request.unit), (text) =>
      request.output(Buffer.from(`${text}\n`)),
    );
    let why: FailureCause | null = null;
    const stop = (cause: FailureCause) => (): void => {
      why ??= cause;
      void unit.signal('SIGKILL');
    };
    const onAbort = stop('cancelled');
    request.signal.addEventListener('abort', onAbort);
    if (request.signal.aborted) onAbort();
    const timer = setTimeout(stop('timeout'), request.timeoutMs);
    const { code, signal } = await unit.ended;
    clearTimeout(timer);
    request.signal.removeEventListener('abort', onAbort);
    if (why !== null) throw new Failure(why, 'The command was ended.');
    return { code, signal };
  }

  async shell(request: ShellRequest): Promise<Shell> {
    return openMemoryShell(request, environmentOf(request.unit));
  }

  async link(apps: readonly LinkedApp[]): Promise<void> {
    this.#machine.links = apps;
  }

  async networkFault(): Promise<string | null> {
    return this.#machine.networkFault;
  }

  async mendNetworks(): Promise<void> {
    this.#machine.networkFault = null;
  }

  async writtenData(): Promise<string[]> {
    return [];
  }

  async close(): Promise<void> {
    this.#unwatch();
    this.#listener = null;
  }

  #report(entry: MemoryEntry): void {
    if (this.#deliver(entry)) entry.unreported = [];
  }

  #deliver({ spec, unreported }: MemoryEntry): boolean {
    const { id } = spec;
    // The death of one that starts again by itself is reported when it is known whether it has done so.
    if (this.#listener === null || (this.supports.restarts === 'engine' && !this.#known.has(id))) return false;
    for (const { at: _at, ...exit } of unreported) this.#listener({ id, ...exit });
    return true;
  }

  #forgetIfRead(entry: MemoryEntry): void {
    if (entry.isRemoved && entry.consumed >= entry.output.size) this.#machine.entries.delete(entry.spec.id);
  }
}

function ended(entry: MemoryEntry, exit: Omit<UnitExited, 'id'>): Failure {
  if (exit.outOfMemory) return failure(entry, 'out_of_memory', 'The process used too much memory.');
  const how = exit.code === null ? `by signal ${exit.signal}` : `with code ${exit.code}`;
  return failure(entry, 'exited', `The process ended ${how} before it was ready.`, exit.code);
}

function failure(entry: MemoryEntry, code: FailureCause, message: string, exitCode: number | null = null): Failure {
  const hint = code === 'wrong_port' ? 'Listen on $PORT.' : 'Look at its last lines.';
  return new Failure(code, message, { hint, lines: entry.output.last(50), exitCode });
}

async function unhealthy(address: Address, check: HealthCheck | null): Promise<string | null> {
  if (check?.path === undefined) return null;
  const response = await fetch(`http://${address.host}:${address.port}${check.path}`, {
    method: check.method ?? 'GET',
    headers: { connection: 'close' },
  });
  const body = await response.text();
  const status = check.status ?? (check.match === undefined ? 200 : null);
  if (status !== null && response.status !== status) return `It answered ${response.status} instead of ${status}.`;
  if (check.match !== undefined && !new RegExp(check.match, 's').test(body))
    return `Its answer does not match ${check.match}.`;
  return null;
}
