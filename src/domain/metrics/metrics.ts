/** Use cases of metrics: one app over time for people and pages, all apps as they are now for Prometheus. */
import { demand } from '../access.ts';
import { demandApp } from '../demand-app.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { moment } from '../moment.ts';
import type { Store } from '../store.ts';
import { ANSWER_BOUNDS_MS, type AnswerCounts, NO_ANSWERS } from '../../lib/answer-counts.ts';
import { LEVELS, type LevelPoint, thinned, YEAR } from './level.ts';
import { merged, type MetricsArchive } from './metrics-archive.ts';
import type { MachineProbe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { PlatformCounters } from './platform-counters.ts';
import { platformText } from './platform-gauges.ts';
import { prometheusText } from './prometheus.ts';
import type { MetricsSampler } from './sampler.ts';

export interface AppMetrics {
  readonly app: string;
  readonly stepSeconds: number;
  /** Oldest first; steps in which nothing was measured are missing. */
  readonly points: readonly LevelPoint[];
  /** All answers since the platform began to look. */
  readonly answerTimes: AnswerTimes;
}

interface AnswerTimes {
  /** Upper ends of the buckets. */
  readonly boundsMs: readonly number[];
  /** Per bucket; the last has all that took longer. */
  readonly counts: readonly number[];
  readonly sumMs: number;
}

export interface Metrics {
  /** `since`: RFC 3339, or how long ago; an hour when absent. Errors: app.not_found, access.denied, input.invalid. */
  ofApp(caller: Caller, app: string, since?: string): Promise<AppMetrics>;
  /** In the text format of Prometheus; for admins. */
  prometheus(caller: Caller): Promise<string>;
}

interface TextDeps {
  readonly store: Pick<Store, 'auditHead' | 'bytes' | 'unfinishedDeploys'>;
  readonly sampler: MetricsSampler;
  readonly counters: PlatformCounters;
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly settings: Pick<Settings, 'diskReserveBytes'>;
}

/** All apps and the platform as they are now, in the text format of Prometheus. */
export async function metricsText({ store, sampler, counters, probe, settings }: TextDeps): Promise<string> {
  const [disk, unfinished, head] = [await probe.disk(), await store.unfinishedDeploys(), await store.auditHead()];
  const auditRows = head?.size ?? 0;
  const now = { disk, unfinished, reserveBytes: settings.diskReserveBytes, auditRows, storeBytes: await store.bytes() };
  return prometheusText(sampler.all) + platformText(now) + counters.text();
}

const DEFAULT_SINCE = '1h';
const MOST_POINTS = 3_000;

export function createMetrics(
  deps: TextDeps & {
    readonly store: Pick<Store, 'app'>;
    readonly archive: MetricsArchive;
    readonly now: () => Date;
  },
): Metrics {
  const { store, sampler, archive, now } = deps;
  return {
    async ofApp(caller, name, asked = '') {
      const app = await demandApp(store, name);
      demand(caller, 'app.metrics', { app });
      const to = now();
      const from = Date.parse(moment('since', asked === '' ? DEFAULT_SINCE : asked, to));
      if (from > to.getTime()) throw new PlatformError('input.invalid', 'Parameter "since" is in the future.');
      const known = sampler.of(name);
      const series = known?.createdAt === app.createdAt ? known : null;
      const shape = LEVELS.find(({ keptMs }) => to.getTime() - from <= keptMs) ?? YEAR;
      // Of an app that had the name before, nothing.
      const since = Date.parse(app.createdAt);
      const kept = (await archive.read(name, shape, from, to.getTime())).filter(({ atMs }) => atMs >= since);
      const all = merged(kept, series?.unstored(shape.stepMs, from, to.getTime()) ?? []);
      const { stepMs, points } = thinned(all, shape.stepMs, MOST_POINTS);
      const answerTimes = answerTimesOf(series?.totals.answers ?? NO_ANSWERS);
      return { app: name, stepSeconds: stepMs / 1000, points, answerTimes };
    },
    async prometheus(caller) {
      demand(caller, 'metrics.all');
      return metricsText(deps);
    },
  };
}

export function answerTimesOf({ times, timeMs }: AnswerCounts): AnswerTimes {
  return { boundsMs: ANSWER_BOUNDS_MS, counts: times, sumMs: timeMs };
}
