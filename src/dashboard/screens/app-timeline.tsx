import { useMemo, useRef } from 'preact/hooks';
import { call } from '../api/call.ts';
import type { Metrics, PlatformEvent } from '../api/operations.ts';
import { Problem } from '../api/problem.ts';
import { exact, plural } from '../data/format.ts';
import { type Happened, happenings, isIn, logAt, logBars } from '../data/happenings.ts';
import { useResource } from '../data/resource.ts';
import { askedRange, rangeQuery, shifted, SPANS, type TimeRange, zoomed } from '../data/time-range.ts';
import { Card, Empty, Loaded } from '../parts/content.tsx';
import { Lanes } from '../parts/lanes.tsx';
import { Status } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { BASE, navigate, query, setQuery } from '../routing/location.ts';
import type { Params } from '../routing/screens.ts';
import { AppFrame, useApp } from './app-frame.tsx';
import { AppCharts } from './app-charts.tsx';

const EVERY_MS = 10_000;
const MOST_DEPLOYS = 100;
const EVENTS_AT_ONCE = 100;
const MOST_PAGES = 5;
const MOST_BARS = 160;
const MOST_ROWS = 50;

interface Found extends Happened {
  readonly range: TimeRange;
}

/** Everything that is known of an app, over one axis of time. */
export default function AppTimeline({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const asked = askedRange(query.value);
  const text = query.value.toString();
  const found = useResource(
    `timeline ${name} ${text}`,
    (signal) => read(name, askedRange(new URLSearchParams(text)).at(Date.now()), signal),
    EVERY_MS,
  );
  /** Stays until the next range is read, so that nothing jumps. */
  const before = useRef<Found | null>(null);
  if (found.data.value !== undefined) before.current = found.data.value;
  if (found.problem.value !== null) before.current = null;
  return (
    <AppFrame app={app} name={name}>
      {() => (
        <>
          <RangeChoice span={asked.span} range={found.data.value?.range ?? asked.at(Date.now())} />
          {found.data.value === undefined && before.current !== null ? (
            <Timeline found={before.current} />
          ) : (
            <Loaded from={found}>{(value) => <Timeline found={value} />}</Loaded>
          )}
        </>
      )}
    </AppFrame>
  );
}

async function read(app: string, range: TimeRange, signal: AbortSignal): Promise<Found> {
  const since = new Date(range.fromMs).toISOString();
  const [metrics, deploys, events] = await Promise.all([
    call('GET /apps/{app}/metrics', { params: { app }, query: { since }, signal }),
    call('GET /deploys', { query: { app, limit: MOST_DEPLOYS }, signal }),
    eventsSince(app, range.fromMs, signal),
  ]);
  const points = metrics.points.filter(({ at }) => isIn(range, Date.parse(at)));
  return { app, range, points, deploys, events, stepMs: metrics.stepSeconds * 1_000 };
}

async function eventsSince(app: string, fromMs: number, signal: AbortSignal): Promise<PlatformEvent[]> {
  const events: PlatformEvent[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const asked = { 'target.value': app, limit: EVENTS_AT_ONCE, skip: page * EVENTS_AT_ONCE };
    let some: readonly PlatformEvent[];
    try {
      some = await call('GET /events', { query: asked, signal });
    } catch (thrown) {
      // Who may not see them sees the rest.
      if (thrown instanceof Problem && thrown.status === 403) return events;
      throw thrown;
    }
    events.push(...some);
    const oldest = some.at(-1);
    if (some.length < EVENTS_AT_ONCE || oldest === undefined || Date.parse(oldest.StartTime) < fromMs) break;
  }
  return events;
}

function RangeChoice({ span, range }: { span: string; range: TimeRange }) {
  const go = (next: TimeRange): void => setQuery(rangeQuery(next), false);
  const act = (label: string, change: (now: number) => TimeRange) => (
    <button type="button" class="button little" onClick={() => go(change(Date.now()))}>
      {label}
    </button>
  );
  return (
    <div class="row between">
      <div class="row">
        <label class="row tight">
          <span class="muted">The last</span>
          <select
            value={span}
            onChange={(event) => setQuery({ since: event.currentTarget.value, from: '', to: '' }, false)}
          >
            {span === '' && <option value="">(a part)</option>}
            {Object.entries(SPANS).map(([value, { label }]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <span class="muted small">
          {exact(new Date(range.fromMs).toISOString())} to {exact(new Date(range.toMs).toISOString())}
        </span>
      </div>
      <div class="row tight" role="group" aria-label="Part of time">
        {act('Earlier', (now) => shifted(range, -0.5, now))}
        {act('Later', (now) => shifted(range, 0.5, now))}
        {act('Zoom in', (now) => zoomed(range, 0.5, now))}
        {act('Zoom out', (now) => zoomed(range, 2, now))}
      </div>
    </div>
  );
}

function Timeline({ found }: { found: Found }) {
  const { app, range, points, stepMs } = found;
  const marks = useMemo(() => happenings(found, range), [found]);
  const bars = useMemo(() => logBars(points, stepMs, range, MOST_BARS), [found]);
  const lines = points.reduce((sum, { logLines }) => sum + logLines, 0);
  return (
    <>
      <Card
        title="What happened"
        actions={<a href={BASE + logAt(app, range)}>{`Log: ${lines > 0 ? plural(lines, 'line') : 'of this time'}`}</a>}
      >
        {/* What a step has counted may have been written since the step before. */}
        <Lanes
          range={range}
          happenings={marks}
          bars={bars}
          logOf={({ fromMs, toMs }) => logAt(app, { fromMs: fromMs - stepMs, toMs })}
        />
        <Charts found={found} />
        <p class="muted small">Drag over a chart to look closer; a click leads to the log of that moment.</p>
      </Card>
      <Card title="One by one" isPlain>
        {marks.length === 0 ? (
          <Empty title="Nothing happened in this time" icon="done" />
        ) : (
          <Table
            label="What happened"
            columns={['When', 'What']}
            rows={marks.slice(0, MOST_ROWS).map(({ key, atMs, label, mood, lane, to }) => ({
              key,
              cells: [
                <a href={BASE + to}>{exact(new Date(atMs).toISOString())}</a>,
                <span class="row tight">
                  <Status state={lane.toLowerCase().replace(/s$/, '')} mood={mood} /> {label}
                </span>,
              ],
            }))}
          />
        )}
      </Card>
    </>
  );
}

function Charts({ found: { app, range, points, stepMs } }: { found: Found }) {
  const measured = useMemo(() => withGaps(points, stepMs), [points]);
  if (points.length < 2) {
    return (
      <Empty title="Nothing was measured in this time" icon="health">
        <p>A running app is measured every ten seconds; a restart of the server begins anew.</p>
      </Empty>
    );
  }
  return (
    <AppCharts
      points={measured}
      stepSeconds={stepMs / 1_000}
      range={range}
      onZoom={(next) => setQuery(rangeQuery(zoomed(next, 1, Date.now())), false)}
      onPick={(atMs) => navigate(logAt(app, { fromMs: atMs - stepMs, toMs: atMs + stepMs }))}
    />
  );
}

export type Measured = { readonly atMs: number; readonly point: Metrics['points'][number] | null };

/** Steps that are missing interrupt the lines. */
function withGaps(points: Metrics['points'], stepMs: number): Measured[] {
  return points.flatMap((point, index): Measured[] => {
    const atMs = Date.parse(point.at);
    const before = points[index - 1];
    const isGap = before !== undefined && atMs - Date.parse(before.at) > 2.5 * stepMs;
    return isGap
      ? [
          { atMs: atMs - stepMs, point: null },
          { atMs, point },
        ]
      : [{ atMs, point }];
  });
}
