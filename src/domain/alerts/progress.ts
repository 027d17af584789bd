/** Pure: from what was known of alerts, and what is wrong now, to what is known; nobody is notified twice, and nothing flaps. */
import type { Alert, AlertSettings } from './alert.ts';
import type { Condition } from './conditions.ts';

interface Progress {
  readonly alerts: readonly Alert[];
  /** Whether anything has to be remembered. */
  readonly isChanged: boolean;
  /** Those of which people are to be notified now: firing or resolved. */
  readonly toNotify: readonly Alert[];
}

const MINUTE_MS = 60_000;
/** What is over is shown for so long. */
const SHOWN_MS = 7 * 86_400_000;
const MOST_RESOLVED = 200;

export function progressOf(
  known: readonly Alert[],
  conditions: readonly Condition[],
  { rules, mail }: AlertSettings,
  now: Date,
): Progress {
  const at = now.toISOString();
  const byKey = new Map(conditions.map((condition) => [keyOf(condition), condition]));
  const going = known.filter(({ state }) => state !== 'resolved').map((alert) => notAheadOf(alert, at));
  const over = known.filter(({ state }) => state === 'resolved');
  const next: Alert[] = [];
  const toNotify: Alert[] = [];
  const isMailDue = mail.length > 0;
  for (const alert of going) {
    const condition = byKey.get(keyOf(alert));
    const waitMs = rules[alert.rule].minutes * MINUTE_MS;
    byKey.delete(keyOf(alert));
    const changed =
      condition === undefined
        ? ended(alert, waitMs, now, isMailDue)
        : lasting(alert, condition, waitMs, now, isMailDue);
    if (changed === null) continue;
    if (changed.state !== alert.state) toNotify.push(changed);
    next.push(changed);
  }
  for (const { rule, subject, message } of byKey.values()) {
    const fresh: Alert = {
      ...{ rule, subject, message, state: 'pending', since: at, goneSince: '' },
      ...{ firedAt: '', resolvedAt: '', isMailDue: false },
    };
    const begun = lasting(fresh, { rule, subject, message }, rules[rule].minutes * MINUTE_MS, now, isMailDue);
    if (begun.state === 'firing') toNotify.push(begun);
    next.push(begun);
  }
  const shownSince = new Date(now.getTime() - SHOWN_MS).toISOString();
  const shown = [...over, ...next.filter(({ state }) => state === 'resolved')]
    .filter(({ resolvedAt, isMailDue: isDue }) => isDue || resolvedAt >= shownSince)
    .slice(-MOST_RESOLVED);
  const alerts = [...next.filter(({ state }) => state !== 'resolved'), ...shown];
  return { alerts, toNotify, isChanged: JSON.stringify(alerts) !== JSON.stringify(known) };
}

function lasting(alert: Alert, { message }: Condition, waitMs: number, now: Date, isMailDue: boolean): Alert {
  const there = alert.goneSince === '' ? alert : { ...alert, goneSince: '' };
  if (alert.state === 'firing' || now.getTime() - Date.parse(alert.since) < waitMs) return there;
  return { ...there, message, state: 'firing', firedAt: now.toISOString(), isMailDue };
}

/** Null: nobody was notified of it, and nobody need be. */
function ended(alert: Alert, waitMs: number, now: Date, isMailDue: boolean): Alert | null {
  if (alert.state === 'pending') return null;
  const at = now.toISOString();
  const goneSince = alert.goneSince === '' ? at : alert.goneSince;
  if (now.getTime() - Date.parse(goneSince) < waitMs) return { ...alert, goneSince };
  return { ...alert, goneSince, state: 'resolved', resolvedAt: at, isMailDue };
}

/** A clock that was ahead when it was noted, and was set right, would have it wait until then. */
function notAheadOf(alert: Alert, at: string): Alert {
  if (alert.since <= at && alert.goneSince <= at) return alert;
  const [since = at, goneSince = at] = [alert.since, alert.goneSince].map((time) => (time > at ? at : time));
  return { ...alert, since, goneSince };
}

function keyOf({ rule, subject }: Pick<Condition, 'rule' | 'subject'>): string {
  return `${rule} ${subject}`;
}
