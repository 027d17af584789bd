import { expect, it } from 'vitest';
import { SILENT, type Logger } from '../../lib/logger.ts';
import { MetricsPush } from './metrics-push.ts';
import { otlpOf } from './otlp.ts';
import { PlatformCounters } from './platform-counters.ts';
import { platformText } from './platform-gauges.ts';

const TIMES = { startMs: 1_772_600_000_000, nowMs: 1_772_600_767_089 };
const SPAN = { startTimeUnixNano: '1772600000000000000', timeUnixNano: '1772600767089000000' };

interface Metric {
  readonly name: string;
  readonly description: string;
}

function metricsOf(body: string): Metric[] {
  const { resourceMetrics } = JSON.parse(body) as { resourceMetrics: { scopeMetrics: { metrics: Metric[] }[] }[] };
  return resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
}

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

it('reports counters, gauges and histograms with their labels, units and times', () => {
  const text = [
    '# HELP tancho_app_cpu_seconds_total Processor time.',
    '# TYPE tancho_app_cpu_seconds_total counter',
    'tancho_app_cpu_seconds_total{app="shop"} 1.5',
    '# HELP tancho_disk_free_bytes Free space.',
    '# TYPE tancho_disk_free_bytes gauge',
    'tancho_disk_free_bytes 5e+9',
    '# HELP tancho_api_seconds How long.',
    '# TYPE tancho_api_seconds histogram',
    'tancho_api_seconds_bucket{operation="apps.list",le="0.005"} 1',
    'tancho_api_seconds_bucket{operation="apps.list",le="30"} 1',
    'tancho_api_seconds_bucket{operation="apps.list",le="+Inf"} 3',
    'tancho_api_seconds_sum{operation="apps.list"} 80.003',
    'tancho_api_seconds_count{operation="apps.list"} 3',
    '# HELP tancho_nothing Without samples.',
    '# TYPE tancho_nothing gauge',
    '',
  ].join('\n');
  const body = otlpOf(text, '1.2.3', TIMES);
  expect(JSON.parse(body)).toMatchObject({
    resourceMetrics: [
      { resource: { attributes: [attribute('service.name', 'tancho'), attribute('service.version', '1.2.3')] } },
    ],
  });
  const cumulative = { aggregationTemporality: 2 };
  const shop = { ...SPAN, attributes: [attribute('app', 'shop')] };
  const list = { ...SPAN, attributes: [attribute('operation', 'apps.list')] };
  expect(metricsOf(body)).toEqual([
    {
      ...{ name: 'tancho_app_cpu_seconds_total', description: 'Processor time.', unit: 's' },
      sum: { ...cumulative, isMonotonic: true, dataPoints: [{ ...shop, asDouble: 1.5 }] },
    },
    {
      ...{ name: 'tancho_disk_free_bytes', description: 'Free space.', unit: 'By' },
      gauge: { dataPoints: [{ ...SPAN, attributes: [], asDouble: 5e9 }] },
    },
    {
      ...{ name: 'tancho_api_seconds', description: 'How long.', unit: 's' },
      histogram: {
        ...cumulative,
        dataPoints: [{ ...list, count: '3', sum: 80.003, bucketCounts: ['1', '0', '2'], explicitBounds: [0.005, 30] }],
      },
    },
  ]);
});

it('gives Prometheus all that the platform counts of itself', () => {
  const counters = new PlatformCounters();
  counters.apiAnswered('apps.list', 200, 3);
  counters.deployEnded('failed', 'build_failed', { building: 100 });
  counters.committed(7);
  const disk = { freeBytes: 1, totalBytes: 2, freeFiles: 3, totalFiles: 4 };
  const text = platformText({ disk, reserveBytes: 0, unfinished: [], auditRows: 5, storeBytes: 6 }) + counters.text();
  const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(families.length).toBeGreaterThan(10);
  expect(metricsOf(otlpOf(text, '1', TIMES)).map(({ name }) => name)).toEqual(families);
});

it('goes on when the receiver does not take it, and says so once', async () => {
  const [sent, said]: [string[], string[]] = [[], []];
  let refuses = true;
  const note = (_: unknown, message?: string): void => void said.push(message ?? '');
  const logger: Logger = { ...SILENT, warn: note, info: note };
  const push = new MetricsPush({
    sender: {
      async send(body) {
        if (refuses) throw new Error('not now');
        sent.push(body);
      },
    },
    text: async () => '# HELP a A.\n# TYPE a gauge\na 1\n',
    version: '1',
    logger,
    now: () => new Date(TIMES.nowMs),
  });
  const { signal } = new AbortController();
  await push.push(signal);
  await push.push(signal);
  refuses = false;
  await push.push(signal);
  await push.push(signal);
  expect(sent.map((body) => metricsOf(body).map(({ name }) => name))).toEqual([['a'], ['a']]);
  expect(said).toEqual(['metrics could not be sent; it is tried again every minute', 'metrics are taken again']);
});
