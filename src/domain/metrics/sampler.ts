/**
 * Looks at all apps every ten seconds, off the path of everything else: one read of the store, one of what the units use, one question to
 * the router.
 */
import { answersSince, answersTogether } from '../../lib/answer-counts.ts';
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { Journal } from '../logs/journal.ts';
import { NO_TRAFFIC } from '../routes/counted-apps.ts';
import type { AppTraffic, Router } from '../routes/router.ts';
import type { Store } from '../store.ts';
import type { Provisioner, UnitUsage } from '../units/provisioner.ts';
import type { Unit } from '../units/unit.ts';
import { AppSeries, type Totals } from './app-series.ts';
import { FINE, type Sample } from './level.ts';
import type { MetricsArchive } from './metrics-archive.ts';

interface SamplerDeps {
  readonly store: Pick<Store, 'apps' | 'allUnits'>;
  readonly provisioner: Pick<Provisioner, 'usage'>;
  readonly router: Pick<Router, 'trafficOf'>;
  readonly journal: Pick<Journal, 'takeLineCounts'>;
  readonly archive: MetricsArchive;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface Step {
  readonly atMs: number;
  /** Null at the first look. */
  readonly sinceMs: number | null;
  readonly usage: ReadonlyMap<string, UnitUsage>;
  readonly logLines: number;
  readonly traffic: AppTraffic;
}

/** Apps that are put down before others have their turn. */
const AT_ONCE = 100;

interface UnitSeen {
  readonly cpuMs: number;
  readonly exits: number;
}

const NEW_UNIT: UnitSeen = { cpuMs: 0, exits: 0 };

export class MetricsSampler {
  readonly #deps: SamplerDeps;
  readonly #series = new Map<string, AppSeries>();
  #seen: ReadonlyMap<string, UnitSeen> = new Map();
  readonly #traffic = new Map<string, AppTraffic>();
  #lastMs: number | null = null;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: SamplerDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= repeatedly(FINE.stepMs, () => this.sample());
  }

  async close(): Promise<void> {
    await this.#stop?.();
    const { archive, now } = this.#deps;
    await archive.keep(this.#series, now().getTime(), true);
  }

  of(app: string): AppSeries | null {
    return this.#series.get(app) ?? null;
  }

  /** By app. */
  get all(): ReadonlyMap<string, AppSeries> {
    return this.#series;
  }

  /** Never rejects: what cannot be had now is missing once. */
  async sample(): Promise<void> {
    const { store, provisioner, journal, logger, now } = this.#deps;
    try {
      const [apps, units, usage] = [await store.apps(), await store.allUnits(), await provisioner.usage()];
      const atMs = now().getTime();
      // Where the clock was set back meanwhile, how long that was is not known.
      const sinceMs = this.#lastMs === null || atMs <= this.#lastMs ? null : atMs - this.#lastMs;
      const logLines = journal.takeLineCounts();
      const byApp = Map.groupBy(units, ({ app }) => app);
      const created = new Map(apps.filter(({ removing }) => !removing).map(({ name, createdAt }) => [name, createdAt]));
      for (const [name, { createdAt }] of this.#series) if (created.get(name) !== createdAt) this.#forget(name);
      const traffic = await this.#newTraffic(
        [...created.keys()].filter((name) => byApp.has(name) || this.#traffic.has(name)),
      );
      let done = 0;
      for (const [name, createdAt] of created) {
        const series = this.#series.get(name) ?? new AppSeries(createdAt);
        this.#series.set(name, series);
        const own = {
          logLines: sinceMs === null ? 0 : (logLines.get(name) ?? 0),
          traffic: traffic.get(name) ?? NO_TRAFFIC,
        };
        this.#sampleApp(series, byApp.get(name) ?? [], { atMs, sinceMs, usage, ...own });
        done += 1;
        if (done % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      this.#seen = new Map(
        units.map(({ id, exits }) => [id, { exits, cpuMs: usage.get(id)?.cpuMs ?? this.#seen.get(id)?.cpuMs ?? 0 }]),
      );
      this.#lastMs = atMs;
      await this.#deps.archive.keep(this.#series, atMs);
    } catch (error) {
      logger.warn({ err: error }, 'the apps could not be measured');
    }
  }

  #sampleApp(series: AppSeries, units: readonly Unit[], { atMs, sinceMs, usage, logLines, traffic }: Step): void {
    let [cpuMs, memoryBytes, restarts] = [0, 0, 0];
    for (const { id, exits } of units) {
      // One that was not there the last time has done all it did since then; at the first look that is not known.
      const seen = this.#seen.get(id) ?? (sinceMs === null ? undefined : NEW_UNIT);
      const used = usage.get(id);
      memoryBytes += used?.memoryBytes ?? 0;
      if (seen === undefined) continue;
      // One that died begins anew.
      if (used !== undefined) cpuMs += used.cpuMs < seen.cpuMs ? used.cpuMs : used.cpuMs - seen.cpuMs;
      restarts += Math.max(0, exits - seen.exits);
    }
    const { requests, failures, answers } = traffic;
    const sample: Sample = {
      cpuMillis: sinceMs === null ? 0 : (cpuMs * 1000) / sinceMs,
      memoryBytes,
      units: units.filter(({ state }) => state === 'started').length,
      restarts,
      requests,
      failures,
      logLines,
    };
    series.add(atMs, sample, answers, plus(series.totals, { cpuMs, restarts, requests, failures, answers }));
  }

  /** Since the last time; the first time nothing, for how old that is is not known. */
  async #newTraffic(apps: readonly string[]): Promise<ReadonlyMap<string, AppTraffic>> {
    const counted = await this.#deps.router.trafficOf(apps).catch(() => new Map<string, AppTraffic>());
    const fresh = new Map<string, AppTraffic>();
    for (const [app, after] of counted) {
      const before = this.#traffic.get(app) ?? after;
      this.#traffic.set(app, after);
      if (before !== after) fresh.set(app, sinceThen(before, after));
    }
    return fresh;
  }

  #forget(app: string): void {
    this.#series.delete(app);
    this.#traffic.delete(app);
  }
}

/** A router that was replaced begins anew. */
function sinceThen(before: AppTraffic, after: AppTraffic): AppTraffic {
  const since = (one: number, other: number): number => (one < other ? one : one - other);
  return {
    requests: since(after.requests, before.requests),
    failures: since(after.failures, before.failures),
    answers: answersSince(before.answers, after.answers),
  };
}

function plus(one: Totals, other: Totals): Totals {
  return {
    cpuMs: one.cpuMs + other.cpuMs,
    restarts: one.restarts + other.restarts,
    requests: one.requests + other.requests,
    failures: one.failures + other.failures,
    answers: answersTogether(one.answers, other.answers),
  };
}
