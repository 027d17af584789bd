/** Values over time, with marks of what happened. All charts of a page share their cursor. uPlot is loaded when the first one is shown. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { isDark } from '../theme.ts';
import { tellProblem } from './toasts.tsx';

export interface Series {
  readonly label: string;
  /** Name of a colour of the style. */
  readonly color: 'good' | 'bad' | 'wait' | 'accent';
  readonly values: readonly number[];
}

export interface Mark {
  /** Seconds since 1970. */
  readonly at: number;
  readonly label: string;
}

interface TimeChartProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly marks: readonly Mark[];
  readonly show: (value: number) => string;
}

const HEIGHT = 190;

export function TimeChart(props: TimeChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const { title, times, series, show } = props;
  const dark = isDark.value;
  useEffect(() => {
    let chart: uPlot | null = null;
    let isGone = false;
    const observer = new ResizeObserver(() => {
      if (box.current !== null) chart?.setSize({ width: box.current.clientWidth, height: HEIGHT });
    });
    void import('uplot').then(({ default: Plot }) => {
      if (isGone || box.current === null) return;
      const plot = Plot as unknown as typeof uPlot;
      chart = new plot(
        optionsOf(props, box.current.clientWidth),
        [[...times], ...series.map(({ values }) => [...values])],
        box.current,
      );
      observer.observe(box.current);
    }, tellProblem);
    return () => {
      isGone = true;
      observer.disconnect();
      chart?.destroy();
    };
  }, [props.times, props.marks, dark]);
  const last = series.map(({ label, values }) => `${label}: ${show(values.at(-1) ?? 0)}`).join(', ');
  return (
    <figure class="chart">
      <div ref={box} style={{ height: `${HEIGHT}px` }} role="img" aria-label={`${title} over time. Now ${last}.`} />
      <figcaption class="row small muted">
        {series.map(({ label, color, values }) => (
          <span key={label} class="row tight">
            <span class={`swatch ${color}`} aria-hidden="true" /> {label}: {show(values.at(-1) ?? 0)}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function optionsOf({ series, marks, show }: TimeChartProps, width: number): uPlot.Options {
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
  const options: uPlot.Options = {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: 'app' }, points: { size: 6 } },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] } },
    axes: [axis, { ...axis, size: 70, values: (_, values) => values.map(show) }],
    series: [
      {},
      ...series.map((one) => ({ label: one.label, stroke: color(one.color), width: 1.5, points: { show: false } })),
    ],
    hooks: { draw: [(chart) => drawMarks(chart, marks, color('muted'))] },
  };
  probe.remove();
  return options;
}

function drawMarks(chart: uPlot, marks: readonly Mark[], color: string): void {
  const { ctx: context, bbox } = chart;
  context.save();
  context.strokeStyle = color;
  context.fillStyle = color;
  context.setLineDash([4, 4]);
  context.font = `${11 * devicePixelRatio}px sans-serif`;
  for (const { at, label } of marks) {
    const x = Math.round(chart.valToPos(at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    context.beginPath();
    context.moveTo(x, bbox.top);
    context.lineTo(x, bbox.top + bbox.height);
    context.stroke();
    context.fillText(label, x + 4, bbox.top + 11 * devicePixelRatio);
  }
  context.restore();
}
