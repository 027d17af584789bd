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
  UnitStatus,
  UnitUsage,
} from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import type { FailureCause } from '../../../domain/failure.ts';
import type { Address } from '../../../domain/units/unit.ts';
import type { HealthCheck } from '../../../domain/apps/app.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { openMemoryShell } from './memory-shell.ts';
import { MemoryOutput, MemoryUnit, offsetOf } from './memory-unit.ts';

const POLL_MS = 2;
const LIMITS = { memoryLimit: true, cpuLimit: true } as const;

interface Entry {
  readonly spec: UnitSpec;
  readonly output: MemoryOutput;
  unit: MemoryUnit;
  isReported: boolean;
  isRemoved: boolean;
  consumed: number;
}

/** What outlives a provisioner: the units. */
export class MemoryMachine {
  readonly entries = new Map<string, Entry>();
  /** By id, as far as a test says so: inside one process they cannot be told apart. */
  readonly usage = new Map<string, UnitUsage>();
  /** As link() was last told; units of this process reach each other in any case. */
  links: readonly LinkedApp[] = [];
  /** As a test says. */
  networkFault: string | null = null;

  /** Ends a unit as an operator's `kill -9` would. */
  async kill(id: string): Promise<void> {
    await this.entries.get(id)?.unit.signal('SIGKILL');
  }

  /** Ends every unit. */
  async dispose(): Promise<void> {
    await Promise.all([...this.entries.keys()].map((id) => this.kill(id)));
    this.entries.clear();
  }
}

export function createMemoryProvisioner(machine: MemoryMachine = new MemoryMachine()): Provisioner {
  return new MemoryProvisioner(machine);
}

class MemoryProvisioner implements Provisioner {
  readonly name = 'memory';
  /** The limits are kept with the unit, for whoever wants to see them; only that of memory could be exceeded by its commands. */
  readonly supports = { shell: true, images: true, volumes: 'anywhere', links: true, ...LIMITS } as const;
  readonly poolOptions = { shelf: { description: 'a lower-case word', pattern: /^[a-z]+$/ } };
  readonly description = 'memory: units inside this process, without isolation';
  readonly #machine: MemoryMachine;
  #listener: ((exited: UnitExited) => void) | null = null;
  #isClosed = false;

  constructor(machine: MemoryMachine) {
    this.#machine = machine;
    for (const entry of machine.entries.values()) this.#watch(entry);
  }

  async ensure(spec: UnitSpec): Promise<string> {
    const known = this.#machine.entries.get(spec.id);
    if (known !== undefined && known.unit.exit === null) return spec.id;
    const output = known?.output ?? new MemoryOutput();
    const unit = new MemoryUnit(spec, environmentOf(spec), (text) => output.print(text));
    const entry = { spec, output, unit, isReported: false, isRemoved: false, consumed: known?.consumed ?? 0 };
    this.#machine.entries.set(spec.id, entry);
    this.#watch(entry);
    return spec.id;
  }

  async ready(id: string, check: ReadyCheck, signal: AbortSignal): Promise<Address | null> {
    const entry = this.#machine.entries.get(id);
    if (entry === undefined) throw new Failure('exited', 'The unit is not there.', { hint: 'Start it first.' });
    const { unit } = entry;
    const deadline = Date.now() + (check.listens ? check.timeoutMs : check.watchMs);
    let wrongAnswers = 0;
    for (;;) {
      if (signal.aborted) throw failure(entry, 'cancelled', 'Waiting was cancelled.');
      if (unit.exit?.outOfMemory === true) throw failure(entry, 'out_of_memory', 'The process used too much memory.');
      if (unit.exit !== null) {
        const how = unit.exit.code === null ? `by signal ${unit.exit.signal}` : `with code ${unit.exit.code}`;
        const { code: exitCode } = unit.exit;
        throw failure(entry, 'exited', `The process ended ${how} before it was ready.`, exitCode);
      }
      if (check.listens && unit.port !== null) {
        if (unit.isElsewhere)
          throw failure(entry, 'wrong_port', `The process listens on port ${unit.port}, not on $PORT.`);
        const address = { host: '127.0.0.1', port: unit.port };
        const problem = await unhealthy(address, check.healthCheck);
        if (problem === null) return address;
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

  async stop(id: string, graceMs: number): Promise<void> {
    const unit = this.#machine.entries.get(id)?.unit;
    if (unit === undefined || unit.exit !== null) return;
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

  async list(): Promise<UnitStatus[]> {
    return [...this.#machine.entries.values()]
      .filter(({ isRemoved }) => !isRemoved)
      .map(({ spec, unit }) => ({ id: spec.id, app: spec.app, running: unit.exit === null }));
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
    for (const entry of this.#machine.entries.values()) this.#report(entry);
    return new Set([...handles.keys()].filter((id) => this.#machine.entries.get(id)?.unit.exit === null));
  }

  /** Units of this process end with it. */
  comebacks(): Promise<Comeback[]> {
    return Promise.resolve([]);
  }

  onExit(listener: (exited: UnitExited) => void): void {
    this.#listener = listener;
    for (const entry of this.#machine.entries.values()) this.#report(entry);
  }

  async *output(id: string, after: string | null, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    const entry = this.#machine.entries.get(id);
    if (entry === undefined) return;
    yield* entry.output.read(after, () => entry.unit.exit !== null, signal);
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
    this.#isClosed = true;
  }

  #watch(entry: Entry): void {
    void entry.unit.ended.then(() => {
      entry.output.notice();
      this.#report(entry);
    });
  }

  #report(entry: Entry): void {
    const { exit } = entry.unit;
    if (this.#isClosed || this.#listener === null || exit === null || entry.isReported) return;
    entry.isReported = true;
    this.#listener({ id: entry.spec.id, ...exit });
  }

  #forgetIfRead(entry: Entry): void {
    if (entry.isRemoved && entry.consumed >= entry.output.size) this.#machine.entries.delete(entry.spec.id);
  }
}

function environmentOf(spec: UnitSpec): Record<string, string> {
  const { app, name, process } = spec;
  const familiar = { TSURU_APPNAME: app, TSURU_PROCESSNAME: process };
  return { TANCHO_APP: app, TANCHO_UNIT: name, TANCHO_PROCESS: process, ...familiar, ...spec.env };
}

function failure(entry: Entry, code: FailureCause, message: string, exitCode: number | null = null): Failure {
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
