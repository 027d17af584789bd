/** What happened to an app, as marks on one axis of time, each with the way to what it was. */
import type { Deploy, Metrics, PlatformEvent } from '../api/operations.ts';
import type { Mood } from '../parts/status.tsx';
import { at } from '../routing/location.ts';
import { moodOfDeploy, outcomeOf } from './deploy-state.ts';
import type { TimeRange } from './time-range.ts';

export const LANES = ['Deploys', 'Restarts', 'Events'] as const;

export interface Happening {
  readonly key: string;
  readonly lane: (typeof LANES)[number];
  readonly atMs: number;
  readonly label: string;
  readonly mood: Mood;
  /** Below the base of the dashboard. */
  readonly to: string;
}

export interface Happened {
  readonly app: string;
  readonly deploys: readonly Deploy[];
  readonly events: readonly PlatformEvent[];
  readonly points: Metrics['points'];
  readonly stepMs: number;
}

/** So much of the log before and after a moment belongs to it. */
const AROUND_MS = 30_000;
/** Deploys have a lane of their own. */
const OF_DEPLOYS = /^app\.(?:deploy|push|pull|rollback)$/;

/** In `range`, newest first. */
export function happenings({ app, deploys, events, points, stepMs }: Happened, range: TimeRange): Happening[] {
  const found: Happening[] = [
    ...deploys.map((deploy): Happening => ({
      key: `deploy ${deploy.ID}`,
      lane: 'Deploys',
      atMs: Date.parse(deploy.Timestamp),
      label: `${deploy.Release > 0 ? `v${deploy.Release}` : 'Deploy'}: ${outcomeOf(deploy)}, by ${deploy.User}`,
      mood: moodOfDeploy(deploy.State),
      to: at('apps', app, 'deploys', deploy.ID),
    })),
    ...points
      .filter(({ restarts }) => restarts > 0)
      .map((point): Happening => ({
        key: `restart ${point.at}`,
        lane: 'Restarts',
        atMs: Date.parse(point.at),
        label: point.restarts === 1 ? 'A unit died and was started again' : `Units died ${point.restarts} times`,
        mood: 'bad',
        to: logAt(app, { fromMs: Date.parse(point.at) - AROUND_MS, toMs: Date.parse(point.at) + stepMs + AROUND_MS }),
      })),
    ...events
      .filter(({ Kind }) => !OF_DEPLOYS.test(Kind.Name))
      .map((event): Happening => ({
        key: `event ${event.UniqueID}`,
        lane: 'Events',
        atMs: Date.parse(event.StartTime),
        label: `${event.Kind.Name} by ${event.Owner.Name}${event.Error === '' ? '' : `: ${event.Error}`}`,
        mood: event.Refused || event.Error !== '' ? 'bad' : 'idle',
        to: at('audit', event.UniqueID),
      })),
  ];
  return found.filter(({ atMs }) => isIn(range, atMs)).sort((one, other) => other.atMs - one.atMs);
}

export function isIn({ fromMs, toMs }: TimeRange, atMs: number): boolean {
  return atMs >= fromMs && atMs <= toMs;
}

/** Address of the log of that time. */
export function logAt(app: string, { fromMs, toMs }: TimeRange): string {
  const query = { since: new Date(fromMs).toISOString(), until: new Date(toMs).toISOString() };
  return `${at('apps', app, 'log')}?${new URLSearchParams(query).toString()}`;
}

export interface LogBar extends TimeRange {
  readonly lines: number;
}

/** How much was logged when, in at most `most` bars; those without a line are left out. */
export function logBars(points: Metrics['points'], stepMs: number, range: TimeRange, most: number): LogBar[] {
  const steps = Math.max(1, Math.ceil((range.toMs - range.fromMs) / stepMs / most));
  const widthMs = steps * stepMs;
  const lines = new Map<number, number>();
  for (const { at: time, logLines } of points) {
    const bar = Math.floor(Date.parse(time) / widthMs);
    if (logLines > 0) lines.set(bar, (lines.get(bar) ?? 0) + logLines);
  }
  return [...lines].map(([bar, count]) => ({ fromMs: bar * widthMs, toMs: (bar + 1) * widthMs, lines: count }));
}
