/** Values over time. All charts of a page share their cursor and their range. uPlot is loaded when the first one is shown. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { exact } from '../data/format.ts';
import type { TimeRange } from '../data/time-range.ts';
import { isDark } from '../theme.ts';
import { notifyProblem } from './toasts.tsx';

export interface Series {
  readonly label: string;
  /** Name of a colour of the style. */
  readonly color: 'good' | 'bad' | 'wait' | 'accent';
  /** Null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface TimeChartProps {
  readonly title: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly range: TimeRange;
  readonly show: (value: number) => string;
  /** A part of it was chosen. */
  readonly onZoom: (range: TimeRange) => void;
  /** A moment was chosen. */
  readonly onPick: (atMs: number) => void;
}

const HEIGHT = 170;
/** Less is a click. */
const DRAGGED_PIXELS = 6;
/** Room for the words of the axis; the lanes above stand in line with it. */
const AXIS_PIXELS = 80;
const DAY_SECONDS = 86_400;

export function TimeChart(props: TimeChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const shown = useRef(props);
  shown.current = props;
  const { title, times, series, show, range } = props;
  const dark = isDark.value;
  /** Index of the moment under the pointer. */
  const [pointed, setPointed] = useState<number | null>(null);
  useEffect(() => {
    let isGone = false;
    const observer = new ResizeObserver(() => {
      if (box.current !== null) chart.current?.setSize({ width: box.current.clientWidth, height: HEIGHT });
    });
    void import('uplot').then(({ default: Plot }) => {
      if (isGone || box.current === null) return;
      const plot = Plot as unknown as typeof uPlot;
      chart.current = new plot(
        optionsOf(shown, box.current.clientWidth, setPointed),
        dataOf(shown.current),
        box.current,
      );
      observer.observe(box.current);
    }, notifyProblem);
    return () => {
      isGone = true;
      observer.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [dark]);
  useEffect(() => chart.current?.setData(dataOf(shown.current)), [times, range.fromMs, range.toMs]);
  const now = (values: readonly (number | null)[]): string => show(values.findLast((value) => value !== null) ?? 0);
  const last = series.map(({ label, values }) => `${label}: ${now(values)}`).join(', ');
  const pointedAt = pointed === null ? undefined : times[pointed];
  const seen = (values: readonly (number | null)[]): string => {
    if (pointed === null || pointedAt === undefined) return now(values);
    const value = values[pointed];
    return value === null || value === undefined ? 'not measured' : show(value);
  };
  return (
    <figure class="chart">
      <div ref={box} style={{ height: `${HEIGHT}px` }} role="img" aria-label={`${title} over time. Last ${last}.`} />
      <figcaption class="row small muted">
        {series.map(({ label, color, values }) => (
          <span key={label} class="row tight">
            <span class={`swatch ${color}`} aria-hidden="true" /> {label}: {seen(values)}
          </span>
        ))}
        {pointedAt !== undefined && <span>{exact(new Date(pointedAt * 1_000).toISOString())}</span>}
      </figcaption>
    </figure>
  );
}

function dataOf({ times, series }: TimeChartProps): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function optionsOf(
  shown: { readonly current: TimeChartProps },
  width: number,
  onPoint: (index: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement('span');
  document.body.append(probe);
  const color = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: color('muted'),
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  const { series } = shown.current;
  const options: uPlot.Options = {
    width,
    height: HEIGHT,
    padding: [8, 0, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'app' }, points: { size: 6 }, drag: { x: true, y: false, setScale: false } },
    scales: {
      x: { range: () => [shown.current.range.fromMs / 1_000, shown.current.range.toMs / 1_000] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] },
    },
    axes: [
      { ...axis, size: 30, values: (_, values, __, ___, stepSeconds) => values.map((at) => clock(at, stepSeconds)) },
      { ...axis, size: AXIS_PIXELS, values: (_, values) => values.map(shown.current.show) },
    ],
    series: [
      {},
      ...series.map((one) => ({ label: one.label, stroke: color(one.color), width: 1.5, points: { show: false } })),
    ],
    hooks: {
      setSelect: [(chart) => zoom(chart, shown.current)],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      ready: [(chart) => pickOnClick(chart, shown)],
    },
  };
  probe.remove();
  return options;
}

function clock(seconds: number, stepSeconds: number): string {
  const parts: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
  if (stepSeconds < 60) parts.second = '2-digit';
  if (stepSeconds >= DAY_SECONDS) {
    return new Date(seconds * 1_000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  }
  if (stepSeconds >= DAY_SECONDS / 4) parts.weekday = 'short';
  return new Date(seconds * 1_000).toLocaleTimeString('en-GB', parts);
}

function zoom(chart: uPlot, { onZoom }: TimeChartProps): void {
  const { left, width } = chart.select;
  if (width < DRAGGED_PIXELS) return;
  const at = (pixels: number): number => Math.round(chart.posToVal(pixels, 'x') * 1_000);
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  onZoom({ fromMs: at(left), toMs: at(left + width) });
}

function pickOnClick(chart: uPlot, shown: { readonly current: TimeChartProps }): void {
  let pressedAt = 0;
  chart.over.addEventListener('mousedown', ({ clientX }) => (pressedAt = clientX));
  chart.over.addEventListener('click', ({ clientX }) => {
    if (Math.abs(clientX - pressedAt) >= DRAGGED_PIXELS) return;
    const pixels = clientX - chart.over.getBoundingClientRect().left;
    shown.current.onPick(Math.round(chart.posToVal(pixels, 'x') * 1_000));
  });
}
