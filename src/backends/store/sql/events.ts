import type { EventReader, EventWriter, PlatformEvent } from '../../../domain/events.ts';
import type { Scope } from './schema.ts';

const COLUMNS = ['id', 'at', 'actor', 'address', 'action', 'target', 'detail', 'error'] as const;

export function eventReader({ db }: Scope): EventReader {
  return {
    events: (limit) => db.selectFrom('events').select(COLUMNS).orderBy('seq', 'desc').limit(limit).execute(),
  };
}

export function eventWriter({ db }: Scope): EventWriter {
  return {
    async insertEvent(event) {
      const row: PlatformEvent = {
        id: event.id,
        at: event.at,
        actor: event.actor,
        address: event.address,
        action: event.action,
        // An attempt with an impossible name is recorded like any other.
        target: event.target.replaceAll('\0', '\uFFFD'),
        detail: event.detail.replaceAll('\0', '\uFFFD'),
        error: event.error,
      };
      await db.insertInto('events').values(row).execute();
    },
  };
}
