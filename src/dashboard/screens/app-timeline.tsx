import { useMemo, useRef, useState } from 'preact/hooks';
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
/** Of long times little changes, and reading them costs more. */
const SELDOM_MS = 60_000;
const LONG_MS = 24 * 3_600_000;
const AT_ONCE = 100;
const MOST_PAGES = 5;
const MOST_BARS = 160;
const MOST_ROWS = 50;

interface Found extends Happened {
  readonly range: TimeRange;
  /** There were more deploys or events than are read. */
  readonly isCut: boolean;
}

/** Everything that is known of an app, over one axis of time. */
export default function AppTimeline({ params: { app: name = '' } }: { params: Params }) {
  const app = useApp(name);
  const asked = askedRange(query.value);
  const text = query.value.toString();
  const found = useResource(
    `timeline ${name} ${text}`,
    (signal) => read(name, askedRange(new URLSearchParams(text)).at(Date.now()), signal),
    asked.at(Date.now()).toMs - asked.at(Date.now()).fromMs > LONG_MS ? SELDOM_MS : EVERY_MS,
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
    pages(({ skip, limit }) => call('GET /deploys', { query: { app, limit, skip }, signal }), {
      isBefore: ({ Timestamp }) => Date.parse(Timestamp) < range.fromMs,
    }),
    eventsIn(app, range, signal),
  ]);
  const points = metrics.points.filter(({ at }) => isIn(range, Date.parse(at)));
  return {
    ...{ app, range, points, stepMs: metrics.stepSeconds * 1_000 },
    ...{ deploys: deploys.found, events: events.found, isCut: deploys.isCut || events.isCut },
  };
}

interface Pages<T> {
  readonly found: readonly T[];
  readonly isCut: boolean;
}

/** Newest first, as far as the first one that is before all that is wanted. */
async function pages<T>(
  read: (part: { skip: number; limit: number }) => Promise<readonly T[]>,
  { isBefore }: { readonly isBefore: (one: T) => boolean },
): Promise<Pages<T>> {
  const found: T[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const some = await read({ skip: page * AT_ONCE, limit: AT_ONCE });
    found.push(...some);
    const last = some.at(-1);
    if (some.length < AT_ONCE || last === undefined || isBefore(last)) return { found, isCut: false };
  }
  return { found, isCut: true };
}

async function eventsIn(app: string, { fromMs, toMs }: TimeRange, signal: AbortSignal): Promise<Pages<PlatformEvent>> {
  const part = { since: new Date(fromMs).toISOString(), until: new Date(toMs).toISOString() };
  try {
    return await pages(
      ({ skip, limit }) => call('GET /events', { query: { 'target.value': app, ...part, skip, limit }, signal }),
      { isBefore: () => false },
    );
  } catch (thrown) {
    // Who may not see them sees the rest.
    if (thrown instanceof Problem && thrown.status === 403) return { found: [], isCut: false };
    throw thrown;
  }
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
  const [shownRows, setShownRows] = useState(MOST_ROWS);
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
        {found.isCut && (
          <p class="muted small">More happened in this time than is shown: look closer at a part of it.</p>
        )}
      </Card>
      <Card title="One by one" isPlain>
        {marks.length === 0 ? (
          <Empty title="Nothing happened in this time" icon="done" />
        ) : (
          <Table
            label="What happened"
            columns={['When', 'What']}
            rows={marks.slice(0, shownRows).map(({ key, atMs, label, mood, lane, to }) => ({
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
        {marks.length > shownRows && (
          <div class="pages">
            <button type="button" class="button little" onClick={() => setShownRows(shownRows + MOST_ROWS)}>
              Show more
            </button>
          </div>
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
        <p>A running app is measured every ten seconds.</p>
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
