/** How an app does right now, and did in the last minutes; the timeline says more. */
import { call } from '../api/call.ts';
import type { Metrics } from '../api/operations.ts';
import { bytes, digits, milliseconds } from '../data/format.ts';
import { useResource } from '../data/resource.ts';
import { at, BASE } from '../routing/location.ts';

type Point = Metrics['points'][number];

interface Vital {
  readonly label: string;
  readonly show: (value: number) => string;
  readonly value: (point: Point, stepSeconds: number) => number;
}

const VITALS: readonly Vital[] = [
  { label: 'Requests per second', show: digits, value: ({ requests }, seconds) => requests / seconds },
  { label: 'Failed per second', show: digits, value: ({ failures }, seconds) => failures / seconds },
  { label: '95 % answered within', show: milliseconds, value: ({ p95Ms }) => p95Ms },
  { label: 'Memory', show: bytes, value: ({ memoryBytes }) => memoryBytes },
  { label: 'Processor', show: (value) => `${digits(value)} %`, value: ({ cpuMillis }) => cpuMillis / 10 },
];
const SPAN = '15m';
const EVERY_MS = 10_000;
const [WIDE, HIGH] = [100, 24];

export function AppVitals({ name }: { name: string }) {
  const found = useResource(
    `vitals ${name}`,
    (signal) => call('GET /apps/{app}/metrics', { params: { app: name }, query: { since: SPAN }, signal }),
    EVERY_MS,
  );
  const { points = [], stepSeconds = 1 } = found.data.value ?? {};
  return (
    <a class="card vitals" href={`${BASE}${at('apps', name, 'timeline')}?since=${SPAN}`} title="Timeline">
      {VITALS.map(({ label, show, value }) => {
        const values = points.map((point) => value(point, stepSeconds));
        const last = values.at(-1);
        return (
          <span key={label}>
            <span class="muted small">{label}</span>
            <strong>{last === undefined ? '–' : show(last)}</strong>
            <Spark values={values} />
          </span>
        );
      })}
    </a>
  );
}

function Spark({ values }: { values: readonly number[] }) {
  const most = Math.max(...values, 0) || 1;
  const step = WIDE / Math.max(1, values.length - 1);
  const points = values.map((value, index) => `${index * step},${HIGH - 1 - (value / most) * (HIGH - 2)}`);
  return (
    <svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(' ')} fill="none" stroke="currentColor" vector-effect="non-scaling-stroke" />
    </svg>
  );
}
