/** Use cases of the audit trail: who did what, and who tried to. */
import { demand } from '../access.ts';
import { type Caller, callerName, isAdmin } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { EventFilter, PlatformEvent } from './events.ts';

export interface EventQuery extends Omit<EventFilter, 'visible'> {
  /** At most so many; absent or more than MOST_EVENTS: MOST_EVENTS. */
  readonly limit?: number;
}

export interface EventLog {
  /** Newest first. Admins see all, others what they did themselves and what concerns the apps of their teams. */
  list(caller: Caller, query?: EventQuery): Promise<PlatformEvent[]>;
  /** Errors: event.not_found, also for one that the caller may not see. */
  info(caller: Caller, id: string): Promise<PlatformEvent>;
}

const MOST_EVENTS = 100;

export function createEventLog({ store }: { store: Pick<Store, 'apps' | 'event' | 'events'> }): EventLog {
  async function visibleTo(caller: Caller): Promise<Required<EventFilter>['visible'] | null> {
    if (isAdmin(caller)) return null;
    const apps = caller.kind === 'user' ? await store.apps(caller.teams) : [];
    return { targets: apps.map(({ name }) => `app:${name}`), actor: callerName(caller) };
  }

  return {
    async list(caller, { limit = MOST_EVENTS, ...filter } = {}) {
      demand(caller, 'event.list');
      const visible = await visibleTo(caller);
      return store.events(Math.min(limit, MOST_EVENTS), { ...filter, ...(visible !== null && { visible }) });
    },

    async info(caller, id) {
      demand(caller, 'event.list');
      const [event, visible] = [await store.event(id), await visibleTo(caller)];
      const isSeen = (found: PlatformEvent): boolean =>
        visible === null || visible.targets.includes(found.target) || visible.actor === found.actor;
      if (event !== null && isSeen(event)) return event;
      throw new PlatformError('event.not_found', 'There is no such event.', {
        hint: 'GET /events lists those you may see; old ones are removed.',
      });
    },
  };
}
