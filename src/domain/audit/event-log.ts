/** Use cases of the audit trail: who did what, and who tried to. */
import { demand } from '../access.ts';
import type { App } from '../apps/app.ts';
import { type Caller, callerName, isAdmin } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { EventFilter, PlatformEvent } from './events.ts';

export interface EventQuery extends Omit<EventFilter, 'visible'> {
  /** At most so many; absent or more than MOST_EVENTS: MOST_EVENTS. */
  readonly limit?: number;
}

export interface EventLog {
  /** Newest first. Admins see all, others what they did themselves and what concerns the apps of their teams: not what was before under their names. */
  list(caller: Caller, query?: EventQuery): Promise<PlatformEvent[]>;
  /** Errors: event.not_found, also for one that the caller may not see. */
  info(caller: Caller, id: string): Promise<PlatformEvent>;
}

const MOST_EVENTS = 100;

export function createEventLog({ store }: { store: Pick<Store, 'apps' | 'event' | 'events'> }): EventLog {
  const appsOf = async (caller: Caller): Promise<App[]> =>
    caller.kind === 'user' ? await store.apps(caller.teams) : [];

  async function isSeen(caller: Caller, { target, actor, at, endedAt }: PlatformEvent): Promise<boolean> {
    if (isAdmin(caller) || actor === callerName(caller)) return true;
    const app = (await appsOf(caller)).find(({ name }) => target === `app:${name}`);
    // The event of its creation begins before there is the app.
    return app !== undefined && (at >= app.createdAt || endedAt >= app.createdAt);
  }

  return {
    async list(caller, { limit = MOST_EVENTS, ...filter } = {}) {
      demand(caller, 'event.list');
      const most = Math.min(limit, MOST_EVENTS);
      if (isAdmin(caller)) return store.events(most, filter);
      const apps = (await appsOf(caller)).map(({ name }) => name);
      return store.events(most, { ...filter, visible: { apps, actor: callerName(caller) } });
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
