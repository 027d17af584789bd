/**
 * Pure: what an edge elsewhere has answered. It takes what strangers send, on a machine that nobody here knows, so its word is read as theirs would be: what goes on from
 * here counts in rollouts and is in logs of all apps.
 */
import type { AnswerCounts } from '../../lib/answer-counts.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { AccessEntry, AppTraffic } from '../routes/router.ts';

/** Edges of other versions may count in more classes. */
const MOST_NUMBERS = 100;
const MOST_APPS = 1_000_000;
/** An edge keeps 5,000 at most, in each of its workers. */
const MOST_ENTRIES = 100_000;
const LONGEST_LINE = 64 * 1024;
const LATEST_MS = 8.64e15;

/** Null: that is none. */
export function trafficIn(answer: unknown): AppTraffic | null {
  if (!isRecord(answer)) return null;
  const { requests, failures, answers } = answer;
  const counted = answersIn(answers);
  if (!isCount(requests) || !isCount(failures) || counted === null) return null;
  return { requests, failures, answers: counted };
}

/** By app. Null: that is none. */
export function allTrafficIn(answer: unknown): ReadonlyMap<string, AppTraffic> | null {
  if (!Array.isArray(answer) || answer.length > MOST_APPS) return null;
  const counted = new Map<string, AppTraffic>();
  for (const one of answer as readonly unknown[]) {
    const [app, traffic]: readonly unknown[] = Array.isArray(one) ? one : [];
    const own = trafficIn(traffic);
    if (typeof app !== 'string' || own === null) return null;
    counted.set(app, own);
  }
  return counted;
}

/** Null: these are none. */
export function accessEntriesIn(answer: unknown): AccessEntry[] | null {
  if (!Array.isArray(answer) || answer.length > MOST_ENTRIES) return null;
  const entries = answer.flatMap((one: unknown): AccessEntry[] => {
    if (!isRecord(one)) return [];
    const { app, atMs, line } = one;
    const isEntry = typeof app === 'string' && typeof line === 'string' && line.length <= LONGEST_LINE;
    return isEntry && isAmount(atMs) && atMs <= LATEST_MS ? [{ app, atMs, line }] : [];
  });
  return entries.length === answer.length ? entries : null;
}

function answersIn(value: unknown): AnswerCounts | null {
  if (!isRecord(value)) return null;
  const { classes, times, timeMs } = value;
  return areCounts(classes) && areCounts(times) && isAmount(timeMs) ? { classes, times, timeMs } : null;
}

function areCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.length <= MOST_NUMBERS && value.every(isCount);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && isAmount(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
