/** Use cases of the audit trail: who did what, and who tried to. */
import { verifierKey } from '../../lib/transparency-log/checkpoint.ts';
import { demand } from '../access.ts';
import type { App } from '../apps/app.ts';
import { type Caller, callerName, isAdmin } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { moment } from '../moment.ts';
import type { Store } from '../store.ts';
import type { AuditLog } from './audit-log.ts';
import type { EventFilter, PlatformEvent } from './events.ts';
import type { AuditLogReader, LogCheckpoint, ReadLogRow } from './log-rows.ts';

/** `since` and `until`: RFC 3339, or how long ago. */
export interface EventQuery extends Omit<EventFilter, 'visible'> {
  /** At most so many; absent or more than MOST_EVENTS: MOST_EVENTS. */
  readonly limit?: number;
}

/** A part of the log, for whoever looks whether it was changed. */
export interface LogPage {
  readonly rows: readonly ReadLogRow[];
  /** Those that are of more rows than there are before this part, and of no more than its end. */
  readonly checkpoints: readonly LogCheckpoint[];
  /** The newest. */
  readonly head: LogCheckpoint;
  /** By which everybody can check what the log signs; see lib/transparency-log/. */
  readonly key: string;
}

export interface EventLog {
  /** Newest first. Errors: input.invalid. Admins see all, others what they did themselves and what concerns the apps of their teams: not what was before under their names. */
  list(caller: Caller, query?: EventQuery): Promise<PlatformEvent[]>;
  /** Errors: event.not_found, also for one that the caller may not see. */
  info(caller: Caller, id: string): Promise<PlatformEvent>;
  /** Rows of the audit log from this index on, at most `limit` of them or MOST_ROWS. Everything that is committed is in it. */
  log(caller: Caller, from: number, limit: number): Promise<LogPage>;
}

const MOST_EVENTS = 100;
const MOST_ROWS = 1_000;

interface EventLogDeps {
  readonly store: Pick<Store, 'apps' | 'event' | 'events' | keyof AuditLogReader>;
  readonly auditLog: Pick<AuditLog, 'sequence'>;
  readonly now: () => Date;
}

export function createEventLog({ store, auditLog, now }: EventLogDeps): EventLog {
  const appsOf = async (caller: Caller): Promise<App[]> =>
    caller.kind === 'user' ? await store.apps(caller.teams) : [];

  async function isSeen(caller: Caller, { target, actor, at, endedAt }: PlatformEvent): Promise<boolean> {
    if (isAdmin(caller) || actor === callerName(caller)) return true;
    const app = (await appsOf(caller)).find(({ name }) => target === `app:${name}`);
    // The event of its creation begins before there is the app.
    return app !== undefined && (at >= app.createdAt || endedAt >= app.createdAt);
  }

  return {
    async list(caller, { limit = MOST_EVENTS, since, until, ...rest } = {}) {
      demand(caller, 'event.list');
      const filter = {
        ...rest,
        ...(since !== undefined && { since: moment('since', since, now()) }),
        ...(until !== undefined && { until: moment('until', until, now()) }),
      };
      const most = Math.min(limit, MOST_EVENTS);
      if (isAdmin(caller)) return store.events(most, filter);
      const apps = (await appsOf(caller)).map(({ name }) => name);
      return store.events(most, { ...filter, visible: { apps, actor: callerName(caller) } });
    },

    async log(caller, from, limit) {
      demand(caller, 'event.log');
      await auditLog.sequence();
      const [head, key] = await Promise.all([store.auditHead(), store.auditKey()]);
      if (head === null || key === null) throw new PlatformError('event.not_found', 'Nothing was recorded yet.');
      // What comes after the head that is shown is shown with the next one.
      const most = Math.max(0, Math.min(limit, MOST_ROWS, head.size - from));
      const rows = await store.auditRows(from, most);
      const checkpoints = await store.auditCheckpoints(from, from + most);
      const { size, note } = head;
      return { rows, checkpoints, head: { size, note }, key: verifierKey(key.origin, key.privateKey) };
    },

    async info(caller, id) {
      demand(caller, 'event.list');
      const event = await store.event(id);
      if (event !== null && (await isSeen(caller, event))) return event;
      throw new PlatformError('event.not_found', 'There is no such event.', {
        hint: 'GET /events lists those you may see; old ones are removed.',
      });
    },
  };
}
