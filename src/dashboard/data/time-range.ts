/** The part of time that a page shows, as it stands in the address: the last while, or from one moment to another. */
export interface TimeRange {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** As the address has it -> its length. */
export const SPANS: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '15m': { label: '15 minutes', ms: 15 * MINUTE_MS },
  '1h': { label: '1 hour', ms: HOUR_MS },
  '6h': { label: '6 hours', ms: 6 * HOUR_MS },
  '24h': { label: '1 day', ms: DAY_MS },
  '7d': { label: '7 days', ms: 7 * DAY_MS },
  '30d': { label: '30 days', ms: 30 * DAY_MS },
  '90d': { label: '90 days', ms: 90 * DAY_MS },
  '365d': { label: '1 year', ms: 365 * DAY_MS },
};
const USUAL = '1h';
/** What is kept goes back so far. */
const OLDEST_MS = 365 * DAY_MS;
const SHORTEST_MS = MINUTE_MS;

interface AskedRange {
  /** '' where a part of time was chosen that does not move. */
  readonly span: string;
  at(nowMs: number): TimeRange;
}

/** What is no range is the usual one. */
export function askedRange(query: URLSearchParams): AskedRange {
  const [from, to] = ['from', 'to'].map((name) => Date.parse(query.get(name) ?? ''));
  if (from !== undefined && to !== undefined && to - from >= SHORTEST_MS) {
    return { span: '', at: () => ({ fromMs: from, toMs: to }) };
  }
  const span = Object.hasOwn(SPANS, query.get('since') ?? '') ? (query.get('since') ?? USUAL) : USUAL;
  return { span, at: (nowMs) => ({ fromMs: nowMs - (SPANS[span]?.ms ?? HOUR_MS), toMs: nowMs }) };
}

/** For the address. */
export function rangeQuery({ fromMs, toMs }: TimeRange): { from: string; to: string; since: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), since: '' };
}

/** `factor` 0.5 shows half as much, 2 twice as much; the middle stays. */
export function zoomed({ fromMs, toMs }: TimeRange, factor: number, nowMs: number): TimeRange {
  const half = Math.max(((toMs - fromMs) * factor) / 2, SHORTEST_MS / 2);
  const middle = (fromMs + toMs) / 2;
  return within({ fromMs: middle - half, toMs: middle + half }, nowMs);
}

/** `part` of its length to later, or to earlier below 0. */
export function shifted({ fromMs, toMs }: TimeRange, part: number, nowMs: number): TimeRange {
  const by = (toMs - fromMs) * part;
  return within({ fromMs: fromMs + by, toMs: toMs + by }, nowMs);
}

/** Moved, and made shorter where it is too long, so that nothing of it is in the future or older than what is kept. */
function within({ fromMs, toMs }: TimeRange, nowMs: number): TimeRange {
  const length = Math.min(Math.max(toMs - fromMs, SHORTEST_MS), OLDEST_MS);
  const from = Math.min(Math.max(fromMs, nowMs - OLDEST_MS), nowMs - length);
  return { fromMs: Math.round(from), toMs: Math.round(from + length) };
}

/** 0 at its beginning, 1 at its end. */
export function placeIn({ fromMs, toMs }: TimeRange, atMs: number): number {
  return (atMs - fromMs) / (toMs - fromMs);
}
