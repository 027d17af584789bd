/**
 * Looks at serving units again and again: one that has become ready can hang later, or answer nothing but errors, and stay alive. A
 * unit that fails so many times in a row is given to the supervisor, which ends it and starts it again.
 */
import type { Logger } from '../../lib/logger.ts';
import { TimerLateness } from '../../lib/timer-lateness.ts';
import type { HealthCheck, Liveness, Release } from '../apps/app.ts';
import { ROUTED_PROCESS, type Unit } from './unit.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { Failure } from '../failure.ts';
import type { ProbeResult, Provisioner } from './provisioner.ts';
import type { Supervisor } from './supervisor.ts';
import { unitSpec } from './unit-spec.ts';

export interface LivenessDeps {
  readonly store: Store;
  readonly provisioner: Pick<Provisioner, 'probe' | 'exec'>;
  readonly supervisor: Supervisor;
  readonly settings: Pick<Settings, 'unitLimits'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

type Check = {
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly failures: number;
} & (
  | { readonly kind: 'accept' }
  | { readonly kind: 'http'; readonly healthCheck: HealthCheck }
  | { readonly kind: 'command'; readonly command: string }
);

interface Watch {
  readonly check: Check | null;
  /** Of the unit when it was first seen: another number, and it is another life. */
  readonly exits: number;
  readonly release: number;
  dueAt: number;
  failures: number;
  /** When the first failure of the row was seen. */
  since: number;
  detail: string;
  isUnderWay: boolean;
}

const TICK_MS = 1_000;
const PERIOD_SECONDS = 10;
const TIMEOUT_SECONDS = 5;
const FAILURES = 3;
/** A single-threaded server that works on one request accepts nothing meanwhile, and is well. */
const FAILURES_TO_ACCEPT = 6;
/** What is later than this share of a time-out was looked at by somebody who had no time to look. */
const LATE = 0.05;
const COMMANDS_AT_ONCE = 4;

export class LivenessChecks {
  readonly #deps: LivenessDeps;
  readonly #watches = new Map<string, Watch>();
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #commands = 0;
  #timer: NodeJS.Timeout | null = null;
  #version = '';
  #units: readonly Unit[] = [];

  constructor(deps: LivenessDeps) {
    this.#deps = deps;
  }

  start(): void {
    let expected = performance.now() + TICK_MS;
    const tick = async (): Promise<void> => {
      const isLate = performance.now() - expected > TICK_MS;
      // Whoever was paused with this process needs a while, too.
      if (isLate) for (const watch of this.#watches.values()) startOver(watch, this.#deps.now().getTime());
      await this.#begin().catch((error: unknown) =>
        this.#deps.logger.warn({ err: error }, 'looking at the units failed'),
      );
      if (this.#closed.signal.aborted) return;
      expected = performance.now() + TICK_MS;
      this.#timer = setTimeout(() => void tick(), TICK_MS);
      this.#timer.unref();
    };
    this.#timer = setTimeout(() => void tick(), TICK_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all(this.#running);
  }

  /** Looks at every unit that is due; resolves when that is done. */
  async round(): Promise<void> {
    await this.#begin();
    await Promise.all(this.#running);
  }

  /** Why a unit that serves is about to be started again, half a sentence; null when it is well as far as is known. */
  problemOf(id: string): string | null {
    const watch = this.#watches.get(id);
    return watch === undefined || watch.failures === 0 ? null : watch.detail;
  }

  async #begin(): Promise<void> {
    const { now } = this.#deps;
    const units = await this.#serving();
    const ids = new Set(units.map(({ id }) => id));
    for (const id of this.#watches.keys()) if (!ids.has(id)) this.#watches.delete(id);
    const at = now().getTime();
    for (const unit of units) {
      const watch = await this.#watchOf(unit, at);
      if (watch.check === null || watch.isUnderWay || at < watch.dueAt) continue;
      if (watch.check.kind === 'command' && this.#commands >= COMMANDS_AT_ONCE) continue;
      this.#track(this.#look(unit, watch, watch.check));
    }
  }

  /** Read anew only when anything was committed since. */
  async #serving(): Promise<readonly Unit[]> {
    const { store } = this.#deps;
    const version = await store.version();
    if (version === this.#version) return this.#units;
    const apps = new Map((await store.apps()).map((app) => [app.name, app]));
    const units = (await store.allUnits()).filter(({ app: name, rollout, state }) => {
      const app = apps.get(name);
      return state === 'started' && app !== undefined && !app.removing && app.rollout === rollout;
    });
    this.#units = units;
    this.#version = version;
    return units;
  }

  async #watchOf(unit: Unit, at: number): Promise<Watch> {
    const known = this.#watches.get(unit.id);
    if (known !== undefined && known.exits === unit.exits && known.release === unit.release) return known;
    const release = await this.#deps.store.release(unit.app, unit.release);
    const check = release === null ? null : checkOf(release, unit.process);
    const dueAt = at + (check?.periodMs ?? 0);
    const { exits, release: number } = unit;
    const watch = { check, exits, release: number, dueAt, failures: 0, since: 0, detail: '', isUnderWay: false };
    this.#watches.set(unit.id, watch);
    return watch;
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#deps.logger.warn({ err: error }, 'looking at a unit failed'))
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  async #look(unit: Unit, watch: Watch, check: Check): Promise<void> {
    const { supervisor, now } = this.#deps;
    watch.isUnderWay = true;
    const begun = now().getTime();
    // Together with others of the same period: they share readings.
    watch.dueAt = (Math.floor(begun / check.periodMs) + 1) * check.periodMs;
    const lateness = new TimerLateness();
    let result: ProbeResult;
    try {
      result = await this.#ask(unit, check);
    } finally {
      watch.isUnderWay = false;
      if (lateness.stop() > check.timeoutMs * LATE) result = { kind: 'unknown' };
    }
    if (this.#closed.signal.aborted || this.#watches.get(unit.id) !== watch || result.kind === 'unknown') return;
    if (result.kind === 'well') {
      watch.failures = 0;
      return;
    }
    if (watch.failures === 0) watch.since = begun;
    watch.failures += 1;
    watch.detail = result.detail;
    if (watch.failures < check.failures) return;
    const often = check.failures === 1 ? '' : `, ${check.failures} times in a row`;
    // Not waited for: to end what hangs may take for ever.
    void supervisor.replaceHung(unit, { reason: `${result.detail}${often}`, wellUntil: watch.since });
  }

  async #ask(unit: Unit, check: Check): Promise<ProbeResult> {
    const { provisioner } = this.#deps;
    const { signal } = this.#closed;
    if (check.kind === 'command') return this.#run(unit, check.command, check.timeoutMs);
    const { address } = unit;
    if (address === null) return { kind: 'unknown' };
    const common = { address, timeoutMs: check.timeoutMs };
    const { kind } = check;
    const probe = kind === 'accept' ? { ...common, kind } : { ...common, kind, healthCheck: check.healthCheck };
    return provisioner.probe(unit.id, probe, signal);
  }

  async #run(unit: Unit, command: string, timeoutMs: number): Promise<ProbeResult> {
    const { provisioner, settings, store } = this.#deps;
    const release = await store.release(unit.app, unit.release);
    if (release === null) return { kind: 'unknown' };
    const spec = { ...unitSpec(unit, release, settings.unitLimits), listens: false };
    this.#commands += 1;
    try {
      const request = { unit: spec, command, output: () => undefined, signal: this.#closed.signal, timeoutMs };
      const { code, signal } = await provisioner.exec(request);
      if (code === 0) return { kind: 'well' };
      return {
        kind: 'unwell',
        detail: `"${command}" ${code === null ? `was ended by ${signal}` : `exited with code ${code}`}`,
      };
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'timeout') return { kind: 'unknown' };
      return { kind: 'unwell', detail: `"${command}" took longer than ${timeoutMs / 1000} seconds` };
    } finally {
      this.#commands -= 1;
    }
  }
}

function startOver(watch: Watch, at: number): void {
  watch.failures = 0;
  watch.dueAt = at + (watch.check?.periodMs ?? 0);
}

/** Null: it is not looked at. */
function checkOf({ processes, healthCheck }: Release, process: string): Check | null {
  const own: Liveness | 'off' = processes[process]?.liveness ?? {};
  if (own === 'off') return null;
  const { periodSeconds = PERIOD_SECONDS, timeoutSeconds = TIMEOUT_SECONDS, failures = FAILURES } = own;
  const times = { periodMs: periodSeconds * 1000, timeoutMs: timeoutSeconds * 1000, failures };
  if (own.command !== undefined) return { ...times, kind: 'command', command: own.command };
  if (process !== ROUTED_PROCESS) return null;
  if (own.path !== undefined) return { ...times, kind: 'http', healthCheck: { path: own.path } };
  if (healthCheck?.path !== undefined) return { ...times, kind: 'http', healthCheck };
  return { ...times, failures: own.failures ?? FAILURES_TO_ACCEPT, kind: 'accept' };
}
