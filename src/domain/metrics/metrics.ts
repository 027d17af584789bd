/** Use cases of metrics: one app over time for people and pages, all apps as they are now for Prometheus. */
import { demand } from '../access.ts';
import { demandApp } from '../demand-app.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { moment } from '../logs/moment.ts';
import type { Store } from '../store.ts';
import type { Field } from './app-series.ts';
import { prometheusText } from './prometheus.ts';
import type { Point } from './ring.ts';
import type { MetricsSampler } from './sampler.ts';

export interface AppMetrics {
  readonly app: string;
  readonly stepSeconds: number;
  /** Oldest first; steps in which nothing was measured are missing. */
  readonly points: readonly Point<Field>[];
}

export interface Metrics {
  /** `since`: RFC 3339, or how long ago; an hour when absent. Errors: app.not_found, access.denied, input.invalid. */
  ofApp(caller: Caller, app: string, since?: string): Promise<AppMetrics>;
  /** In the text format of Prometheus; for admins. */
  prometheus(caller: Caller): Promise<string>;
}

const DEFAULT_SINCE = '1h';

export function createMetrics(deps: {
  readonly store: Pick<Store, 'app'>;
  readonly sampler: MetricsSampler;
  readonly now: () => Date;
}): Metrics {
  const { store, sampler, now } = deps;
  return {
    async ofApp(caller, name, since = '') {
      const app = await demandApp(store, name);
      demand(caller, 'app.metrics', { app });
      const to = now();
      const from = Date.parse(moment('since', since === '' ? DEFAULT_SINCE : since, to));
      if (from > to.getTime()) throw new PlatformError('input.invalid', 'Parameter "since" is in the future.');
      const { stepMs, points } = sampler.of(name)?.read(from, to.getTime()) ?? { stepMs: 10_000, points: [] };
      return { app: name, stepSeconds: stepMs / 1000, points };
    },
    async prometheus(caller) {
      demand(caller, 'metrics.all');
      return prometheusText(sampler.all);
    },
  };
}
