/** What an app used and answered, over the axis of the timeline. */
import { useMemo } from 'preact/hooks';
import { bytes, digits, milliseconds } from '../data/format.ts';
import { type Series, TimeChart, type TimeChartProps } from '../parts/time-chart.tsx';
import type { Measured } from './app-timeline.tsx';

type Point = NonNullable<Measured['point']>;

interface AppChartsProps extends Pick<TimeChartProps, 'range' | 'onZoom' | 'onPick'> {
  readonly points: readonly Measured[];
  readonly stepSeconds: number;
}

interface ChartOf {
  readonly title: string;
  readonly show: (value: number) => string;
  readonly series: readonly (readonly [string, Series['color'], (point: Point) => number])[];
}

const CHARTS: readonly ChartOf[] = [
  {
    title: 'Requests per second',
    show: digits,
    series: [
      ['answered', 'good', ({ requests, failures }) => requests - failures],
      ['failed', 'bad', ({ failures }) => failures],
    ],
  },
  {
    title: 'Answer time',
    show: milliseconds,
    series: [
      ['half within', 'good', ({ p50Ms }) => p50Ms],
      ['95 % within', 'wait', ({ p95Ms }) => p95Ms],
      ['99 % within', 'bad', ({ p99Ms }) => p99Ms],
    ],
  },
  { title: 'Memory', show: bytes, series: [['all units', 'accent', ({ memoryBytes }) => memoryBytes]] },
  {
    title: 'Processor',
    show: (value) => `${digits(value)} %`,
    series: [['all units', 'wait', ({ cpuMillis }) => cpuMillis / 10]],
  },
];
const PER_SECOND = 'Requests per second';

export function AppCharts({ points, stepSeconds, ...rest }: AppChartsProps) {
  const times = useMemo(() => points.map(({ atMs }) => atMs / 1_000), [points]);
  return (
    <div class="charts">
      {CHARTS.map(({ title, show, series }) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <TimeChart
            title={title}
            times={times}
            show={show}
            series={series.map(([label, color, value]) => ({
              label,
              color,
              values: points.map(({ point }) =>
                point === null ? null : value(point) / (title === PER_SECOND ? stepSeconds : 1),
              ),
            }))}
            {...rest}
          />
        </section>
      ))}
    </div>
  );
}
