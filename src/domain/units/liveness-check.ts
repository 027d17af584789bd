/** How a unit is looked at while it serves, and when it counts as hung. Pure but for the looking, which is an argument. */
import { deadline } from '../../lib/deadline.ts';
import { TimerLateness } from '../../lib/timer-lateness.ts';
import type { HealthCheck, Liveness, Release } from '../apps/app.ts';
import { Failure } from '../failure.ts';
import type { ProbeResult, Provisioner, UnitSpec } from './provisioner.ts';
import { healthCheckOf, isRouted } from './routed.ts';
import type { Address } from './unit.ts';

export type LivenessCheck = {
  readonly periodMs: number;
  /** Of one that has been well for long. */
  readonly calmPeriodMs: number;
  readonly timeoutMs: number;
  /** So many in a row, and the unit counts as hung. */
  readonly failures: number;
} & (
  | { readonly kind: 'accept' }
  | { readonly kind: 'http'; readonly healthCheck: HealthCheck }
  | { readonly kind: 'command'; readonly command: string }
);

const PERIOD_SECONDS = 10;
/** Looks take most of what an idle unit costs the platform. */
const CALM_PERIOD_SECONDS = 30;
/** Where there are many, so many of those that are calm are looked at in a second, each the more rarely. */
const CALM_LOOKS_PER_SECOND = 10;
/** So many good looks in a row, and it is calm. */
const CALM_AFTER = 6;
/** So many looks at what is well are begun in a second: of more, each would come too late to show anything. */
const LOOKS_PER_SECOND = 25;
/** Those that are calm are looked at one by one, not all in one moment. */
const SPREAD = 0.2;
const TIMEOUT_SECONDS = 5;
const FAILURES = 3;
/** A single-threaded server that works on one request accepts nothing meanwhile, and is well. */
const FAILURES_TO_ACCEPT = 6;
/** For a command to be begun where that takes a while, as in a cluster: only a few are under way at a time. */
const BEGIN_MS = 60_000;
/** What is later than this share of a time-out was looked at by somebody who had no time to look. */
const LATE = 0.05;

/** Null: it is not looked at. */
export function livenessCheckOf(
  release: Pick<Release, 'processes' | 'healthCheck'>,
  process: string,
): LivenessCheck | null {
  const own: Liveness | 'off' = release.processes[process]?.liveness ?? {};
  if (own === 'off') return null;
  const { periodSeconds = PERIOD_SECONDS, timeoutSeconds = TIMEOUT_SECONDS, failures = FAILURES } = own;
  const calmSeconds = own.periodSeconds ?? CALM_PERIOD_SECONDS;
  const periods = { periodMs: periodSeconds * 1000, calmPeriodMs: calmSeconds * 1000 };
  const times = { ...periods, timeoutMs: timeoutSeconds * 1000, failures };
  if (own.command !== undefined) return { ...times, kind: 'command', command: own.command };
  if (!isRouted(release, process)) return null;
  const healthCheck = healthCheckOf(release, process);
  if (own.path !== undefined) return { ...times, kind: 'http', healthCheck: { path: own.path } };
  if (healthCheck?.path !== undefined) return { ...times, kind: 'http', healthCheck };
  return { ...times, failures: own.failures ?? FAILURES_TO_ACCEPT, kind: 'accept' };
}

/** Why a unit is to be started again. */
interface Hung {
  /** Half a sentence. */
  readonly reason: string;
  /** When the first failure of the row was seen, milliseconds since 1970. */
  readonly since: number;
}

/** The looks at one life of a unit. */
export class LivenessRow {
  readonly check: LivenessCheck;
  failures = 0;
  /** Why the last look failed. */
  detail = '';
  #dueAt: number;
  /** When it was settled when it is due. */
  #settledAt: number;
  #since = 0;
  #isUnderWay = false;
  #wells = 0;

  /** `livedMs`: for how long it is known to have served before; whoever looked at it meanwhile is gone, and one good look more is enough. */
  constructor(check: LivenessCheck, at: number, livedMs = 0) {
    this.check = check;
    this.#dueAt = at + check.periodMs;
    this.#settledAt = at;
    if (livedMs >= CALM_AFTER * check.periodMs) this.#wells = CALM_AFTER - 1;
  }

  /** Also where the clock was set back since. */
  isDue(at: number): boolean {
    return !this.#isUnderWay && (at >= this.#dueAt || at < this.#settledAt);
  }

  /** Milliseconds since 1970. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** For whoever was paused: the unit was, too, and needs a while. */
  startOver(at: number): void {
    this.failures = 0;
    this.#dueAt = at + this.check.periodMs;
    this.#settledAt = at;
  }

  /** Null: it does not count as hung. `isOver`: nobody wants to know any more. `among`: how many there are. */
  async look(at: number, ask: () => Promise<ProbeResult>, isOver: () => boolean, among = 1): Promise<Hung | null> {
    const { periodMs, calmPeriodMs, timeoutMs, failures } = this.check;
    this.#isUnderWay = true;
    // Together with others of the same period: they share readings.
    this.#dueAt = (Math.floor(at / periodMs) + 1) * periodMs;
    this.#settledAt = at;
    const lateness = new TimerLateness();
    let result: ProbeResult;
    try {
      result = await ask();
    } finally {
      this.#isUnderWay = false;
      if (lateness.stop() > timeoutMs * LATE) result = { kind: 'unknown' };
    }
    if (isOver() || result.kind === 'unknown') return null;
    if (result.kind === 'well') {
      this.failures = 0;
      this.#wells += 1;
      if (this.#wells >= CALM_AFTER && calmPeriodMs > periodMs) {
        const calmMs = Math.max(calmPeriodMs, (among / CALM_LOOKS_PER_SECOND) * 1000);
        this.#dueAt = at + calmMs * (1 - SPREAD + 2 * SPREAD * Math.random());
      }
      return null;
    }
    this.#wells = 0;
    if (this.failures === 0) this.#since = at;
    this.failures += 1;
    this.detail = result.detail;
    if (this.failures < failures) return null;
    const often = failures === 1 ? '' : `, ${failures} times in a row`;
    return { reason: `${result.detail}${often}`, since: this.#since };
  }
}

/**
 * To be called once a second: begins the looks that are due, first at all that is not well, then at those that have waited longest.
 * `begin` answers whether it has begun it; what it has not is due the next time.
 */
export function beginLooks<T extends { readonly row: Pick<LivenessRow, 'isDue' | 'dueAt' | 'failures'> }>(
  all: readonly T[],
  at: number,
  begin: (one: T) => boolean,
): void {
  const due = all.filter(({ row }) => row.isDue(at)).sort((a, b) => a.row.dueAt - b.row.dueAt);
  for (const one of due) if (one.row.failures > 0) begin(one);
  let left = LOOKS_PER_SECOND;
  for (const one of due) if (left > 0 && one.row.failures === 0 && begin(one)) left -= 1;
}

/** Looks by a connection; nobody knows where it has no address. */
export async function askAt(
  provisioner: Pick<Provisioner, 'probe'>,
  id: string,
  check: Exclude<LivenessCheck, { kind: 'command' }>,
  { address, signal }: { readonly address: Address | null; readonly signal: AbortSignal },
): Promise<ProbeResult> {
  if (address === null) return { kind: 'unknown' };
  const common = { address, timeoutMs: check.timeoutMs };
  const { kind } = check;
  const probe = kind === 'accept' ? { ...common, kind } : { ...common, kind, healthCheck: check.healthCheck };
  return provisioner.probe(id, probe, signal);
}

/** Looks by a command beside the unit. That it could not be run, or not soon, says nothing of the unit. */
export async function askByCommand(
  provisioner: Pick<Provisioner, 'exec'>,
  spec: UnitSpec,
  { command, timeoutMs }: Extract<LivenessCheck, { kind: 'command' }>,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const limited = deadline(timeoutMs + BEGIN_MS, signal);
  try {
    const request = { command, output: () => undefined, signal: limited.signal, timeoutMs };
    const ended = await provisioner.exec({ ...request, unit: { ...spec, listens: false } });
    if (ended.code === 0) return { kind: 'well' };
    const how = ended.code === null ? `was ended by ${ended.signal}` : `exited with code ${ended.code}`;
    return { kind: 'unwell', detail: `"${command}" ${how}` };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'timeout') return { kind: 'unknown' };
    return { kind: 'unwell', detail: `"${command}" took longer than ${timeoutMs / 1000} seconds` };
  } finally {
    limited.clear();
  }
}
