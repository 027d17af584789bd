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
    async deleteOldEvents({ before, keep, batch }) {
      const newest = db.selectFrom('events').select('seq').orderBy('seq', 'desc');
      const surplus = await newest.offset(keep).limit(1).executeTakeFirst();
      const oldest = await db.selectFrom('events').select(['seq', 'at']).orderBy('seq').limit(batch).execute();
      const isKept = ({ seq, at }: (typeof oldest)[number]): boolean =>
        at >= before && Number(seq) > Number(surplus?.seq ?? 0);
      const firstKept = oldest.findIndex(isKept);
      const gone = firstKept === -1 ? oldest : oldest.slice(0, firstKept);
      const last = gone.at(-1);
      if (last === undefined) return 0;
      const done = await db
        .deleteFrom('events')
        .where('seq', '>=', oldest[0]?.seq ?? last.seq)
        .where('seq', '<=', last.seq)
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}
