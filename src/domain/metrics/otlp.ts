/** Pure: what Prometheus reads, as OTLP (ExportMetricsServiceRequest as JSON), so that both report the same. */

interface Times {
  /** Since when is counted, and until when; milliseconds since 1970. */
  readonly startMs: number;
  readonly nowMs: number;
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

interface Sample {
  readonly suffix: string;
  readonly labels: readonly (readonly [string, string])[];
  readonly value: number;
}

const CUMULATIVE = 2;
const SAMPLE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z_]+)="([^"]*)"/g;

/** `text`: as prometheusText() and its like write it. */
export function otlpOf(text: string, version: string, times: Times): string {
  const attributes = attributesOf([
    ['service.name', 'tancho'],
    ['service.version', version],
  ]);
  const scope = { name: 'tancho', version };
  const metrics = familiesOf(text).map((family) => metricOf(family, times));
  return JSON.stringify({ resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ scope, metrics }] }] });
}

function familiesOf(text: string): Family[] {
  const families = new Map<string, Family>();
  let help = '';
  let family: Family | undefined;
  for (const line of text.split('\n')) {
    const [hash, kind, name = '', ...rest] = line.split(' ');
    if (hash === '#' && kind === 'HELP') help = rest.join(' ');
    else if (hash === '#' && kind === 'TYPE') {
      family = { name, type: rest[0] ?? '', help, samples: [] };
      families.set(name, family);
    } else {
      const [, whole = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
      if (family === undefined || !whole.startsWith(family.name)) continue;
      const suffix = whole.slice(family.name.length);
      const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const);
      family.samples.push({ suffix, labels: pairs, value: Number(value) });
    }
  }
  return [...families.values()].filter(({ samples }) => samples.length > 0);
}

function metricOf({ name, type, help, samples }: Family, times: Times): object {
  const common = { name, description: help, unit: unitOf(name) };
  if (type === 'histogram') {
    return { ...common, histogram: { aggregationTemporality: CUMULATIVE, dataPoints: histograms(samples, times) } };
  }
  const dataPoints = samples.map(({ labels, value }) => ({ ...pointOf(labels, times), asDouble: value }));
  if (type === 'counter')
    return { ...common, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
  return { ...common, gauge: { dataPoints } };
}

/** Buckets of Prometheus are summed up, those of OTLP are not. */
function histograms(samples: readonly Sample[], times: Times): object[] {
  const keyOf = ({ labels }: Sample): string => JSON.stringify(labels.filter(([key]) => key !== 'le'));
  return [...Map.groupBy(samples, keyOf).values()].map((own) => {
    const buckets = own.filter(({ suffix }) => suffix === '_bucket');
    const bounds = buckets.map(({ labels }) => labels.find(([key]) => key === 'le')?.[1] ?? '');
    const value = (suffix: string): number => own.find((sample) => sample.suffix === suffix)?.value ?? 0;
    return {
      ...pointOf(
        (own[0]?.labels ?? []).filter(([key]) => key !== 'le'),
        times,
      ),
      count: `${value('_count')}`,
      sum: value('_sum'),
      bucketCounts: buckets.map((bucket, at) => `${bucket.value - (buckets[at - 1]?.value ?? 0)}`),
      explicitBounds: bounds.filter((bound) => bound !== '+Inf').map(Number),
    };
  });
}

function pointOf(labels: Sample['labels'], { startMs, nowMs }: Times) {
  // Nanoseconds are more than a number can hold.
  return { attributes: attributesOf(labels), startTimeUnixNano: `${startMs}000000`, timeUnixNano: `${nowMs}000000` };
}

function attributesOf(labels: Sample['labels']): object[] {
  return labels.map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

function unitOf(name: string): string {
  if (/_seconds(?:_total)?$/.test(name)) return 's';
  return /_bytes$/.test(name) ? 'By' : '1';
}
