/** What outlives a provisioner in memory: the units, and, on a machine that restarts by itself, whoever starts them again. */
import type {
  Comeback,
  LinkedApp,
  SeenUnit,
  Supports,
  UnitSpec,
  UnitUsage,
} from '../../../domain/units/provisioner.ts';
import { describeExit } from '../../../domain/units/unit.ts';
import { type MemoryExit, MemoryOutput, MemoryUnit } from './memory-unit.ts';

/** Before the first restart of a unit; twice as long each time, up to the longest. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

export interface MemoryEntry {
  readonly spec: UnitSpec;
  readonly output: MemoryOutput;
  unit: MemoryUnit;
  /** Names of volumes that this life of it may read only. */
  readOnly: readonly string[];
  /** Since it was ensured. */
  deaths: number;
  lastExit: MemoryExit | null;
  /** Deaths that were reported to no listener. */
  unreported: Comeback['exits'];
  /** It is not to run, whatever happens. */
  isStopped: boolean;
  isRemoved: boolean;
  /** Its death is not reported to anybody: for tests of what finds it all the same. */
  isSilent: boolean;
  consumed: number;
}

export class MemoryMachine {
  readonly restarts: Supports['restarts'];
  readonly artifacts: Supports['artifacts'];
  readonly entries = new Map<string, MemoryEntry>();
  /** By id, as far as a test sets it: what each unit of one process uses cannot be measured. */
  readonly usage = new Map<string, UnitUsage>();
  /** What link() last got; units of this process reach each other in any case. */
  links: readonly LinkedApp[] = [];
  /** As a test says, `<app>/<name>`: volumes that units may read only from now on. */
  restricted: ReadonlySet<string> = new Set();
  /** As a test says: while it is so, nothing is started again. */
  isHolding = false;
  /** As a test says. */
  networkFault: string | null = null;
  /** As a test says: why it is not reached. */
  awayFor: string | null = null;
  readonly #watchers = new Set<(entry: MemoryEntry) => boolean>();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(restarts: Supports['restarts'] = 'platform', artifacts: Supports['artifacts'] = 'directories') {
    this.restarts = restarts;
    this.artifacts = artifacts;
  }

  /** Every watcher is called for each death, until the returned function is called; it answers whether it has reported what was unreported. */
  watch(watcher: (entry: MemoryEntry) => boolean): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  start(spec: UnitSpec): void {
    const known = this.entries.get(spec.id);
    const output = known?.output ?? new MemoryOutput();
    const life = {
      deaths: 0,
      lastExit: null,
      unreported: [],
      isStopped: false,
      isRemoved: false,
      isSilent: false,
      consumed: known?.consumed ?? 0,
    };
    const readOnly = this.#readOnly(spec);
    const entry: MemoryEntry = { spec, output, unit: newUnit(spec, output), readOnly, ...life };
    this.entries.set(spec.id, entry);
    this.#live(entry);
  }

  /** Whether the unit runs, or will again without anybody's help. */
  isAtWork({ unit, isStopped }: MemoryEntry): boolean {
    return unit.exit === null || (this.restarts === 'engine' && !isStopped);
  }

  seen(entry: MemoryEntry): SeenUnit {
    const { spec, unit, deaths, readOnly } = entry;
    const own = { id: spec.id, app: spec.app, node: 'memory' };
    if (this.awayFor !== null) return { ...own, node: '', state: 'unknown', address: null, reason: this.awayFor };
    const address = unit.port === null ? null : { host: '127.0.0.1', port: unit.port };
    const running = { ...own, ...(readOnly.length > 0 && { readOnly }) };
    if (unit.exit === null) return { ...running, state: 'running', address, reason: '' };
    const reason = describeExit(unit.exit);
    if (!this.isAtWork(entry)) return { ...own, state: 'ended', address: null, reason };
    return {
      ...own,
      state: 'waiting',
      address: null,
      reason: `it ${reason}, and starts again after a pause (deaths: ${deaths})`,
    };
  }

  /** Ends a unit as an operator's `kill -9` would. */
  async kill(id: string): Promise<void> {
    await this.entries.get(id)?.unit.signal('SIGKILL');
  }

  /** Takes away what a unit runs on, as a node that is lost does. */
  async lose(id: string): Promise<void> {
    await this.entries.get(id)?.unit.lose();
  }

  /** Ends every unit. */
  async dispose(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const entry of this.entries.values()) entry.isStopped = true;
    await Promise.all([...this.entries.keys()].map((id) => this.kill(id)));
    this.entries.clear();
  }

  #readOnly({ app, volumes = [] }: UnitSpec): string[] {
    return volumes.map(({ name }) => name).filter((name) => this.restricted.has(`${app}/${name}`));
  }

  #live(entry: MemoryEntry): void {
    void entry.unit.ended.then((exit) => {
      entry.deaths += 1;
      entry.lastExit = exit;
      if (!entry.isSilent) entry.unreported = [...entry.unreported, { ...exit, at: new Date().toISOString() }];
      entry.output.notice();
      if ([...this.#watchers].map((watcher) => watcher(entry)).includes(true)) entry.unreported = [];
      if (this.isAtWork(entry)) this.#startAgain(entry);
    });
  }

  #startAgain(entry: MemoryEntry): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        if (entry.isStopped || this.entries.get(entry.spec.id) !== entry) return;
        if (this.isHolding) return this.#startAgain(entry);
        entry.unit = newUnit(entry.spec, entry.output);
        entry.readOnly = this.#readOnly(entry.spec);
        this.#live(entry);
      },
      Math.min(FIRST_PAUSE_MS * 2 ** (entry.deaths - 1), LONGEST_PAUSE_MS),
    );
    this.#timers.add(timer);
  }
}

export function environmentOf(spec: UnitSpec): Record<string, string> {
  const { app, name, process } = spec;
  const familiar = { TSURU_APPNAME: app, TSURU_PROCESSNAME: process };
  return { TANCHO_APP: app, TANCHO_UNIT: name, TANCHO_PROCESS: process, ...familiar, ...spec.env };
}

function newUnit(spec: UnitSpec, output: MemoryOutput): MemoryUnit {
  return new MemoryUnit(spec, environmentOf(spec), (text) => output.print(text));
}
