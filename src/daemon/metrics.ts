/** What is measured, kept, asked for and sent on. */
import { createMetrics, type Metrics, metricsText } from '../domain/metrics/metrics.ts';
import { MetricsArchive } from '../domain/metrics/metrics-archive.ts';
import type { MetricsSender } from '../domain/metrics/metrics-sender.ts';
import { MetricsSampler } from '../domain/metrics/sampler.ts';
import type { LogStore } from '../domain/logs/log-store.ts';

type MetricsDeps = Omit<ConstructorParameters<typeof MetricsSampler>[0], 'archive'> &
  Omit<Parameters<typeof createMetrics>[0], 'archive' | 'sampler'> & {
    readonly logStore: LogStore;
    readonly metricsSender: MetricsSender | null;
  };

interface MetricsParts {
  readonly sampler: MetricsSampler;
  readonly useCases: Metrics;
  /** Sends them where the settings say, until the function it resolves with is called and resolves. */
  startPush(version: string): Promise<() => Promise<void>>;
}

export function createMetricsParts(deps: MetricsDeps): MetricsParts {
  const { logStore, metricsSender: sender, logger, now } = deps;
  const archive = new MetricsArchive({ logStore, logger });
  const sampler = new MetricsSampler({ ...deps, archive });
  return {
    sampler,
    useCases: createMetrics({ ...deps, archive, sampler }),
    async startPush(version) {
      if (sender === null) return async () => {};
      const { MetricsPush } = await import('../domain/metrics/metrics-push.ts');
      const text = (): Promise<string> => metricsText({ ...deps, sampler });
      const push = new MetricsPush({ sender, text, version, logger, now });
      push.start();
      return () => push.close();
    },
  };
}
