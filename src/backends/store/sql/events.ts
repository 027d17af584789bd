import type { EventFilter, EventReader, EventWriter, PlatformEvent } from '../../../domain/audit/events.ts';
import { sql } from 'kysely';
import { listOf } from '../../../sql/list-of.ts';
import type { EventsTable, Scope } from './schema.ts';

export function eventReader(scope: Scope): EventReader {
  const { db } = scope;
  return {
    async events(limit, filter = {}) {
      const rows = await selected(scope, filter)
        .orderBy('seq', 'desc')
        .limit(limit)
        .offset(filter.skip ?? 0)
        .execute();
      return rows.map(fromRow);
    },
    async event(id) {
      const row = await db.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
  };
}

function selected({ db, kind }: Scope, { visible, target, action, actor, failedOnly }: EventFilter) {
  let query = db.selectFrom('events').selectAll();
  if (visible !== undefined) {
    const targets = visible.apps.map((name) => `app:${name}`);
    // What an app that is gone has left is not about the one that has its name now.
    const isItsOwn = db
      .selectFrom('apps')
      .select('name')
      .whereRef('name', '=', sql`substr(events.target, 5)`)
      .where(sql<boolean>`(apps.created_at <= events.at or apps.created_at <= events.ended_at)`);
    query = query.where((or) =>
      or.or([
        or.and([or('target', 'in', listOf(kind, targets)), or.exists(isItsOwn)]),
        or('actor', '=', visible.actor),
      ]),
    );
  }
  if (target !== undefined) query = query.where('target', '=', target);
  if (action !== undefined) query = query.where('action', '=', action);
  if (actor !== undefined) query = query.where('actor', '=', actor);
  if (failedOnly === true) query = query.where('error', '!=', '');
  return query;
}

function fromRow(row: Omit<EventsTable, 'seq'>): PlatformEvent {
  const { ended_at: endedAt, is_refusal: isRefusal, id, at, actor, address, action, target, detail, error } = row;
  return { id, at, endedAt, actor, address, action, target, detail, error, isRefusal: isRefusal === 1 };
}

export function eventWriter({ db }: Scope): EventWriter {
  return {
    async insertEvent({ endedAt, isRefusal, target, detail, ...event }) {
      // An attempt with an impossible name is recorded like any other.
      const texts = { target: target.replaceAll('\0', '\uFFFD'), detail: detail.replaceAll('\0', '\uFFFD') };
      const row = { ...event, ...texts, ended_at: endedAt, is_refusal: Number(isRefusal) };
      const end = { ended_at: endedAt, error: event.error };
      await db
        .insertInto('events')
        .values(row)
        .onConflict((known) => known.column('id').doUpdateSet(end))
        .execute();
    },
    async endEvent(id, { endedAt, error }) {
      await db.updateTable('events').set({ ended_at: endedAt, error }).where('id', '=', id).execute();
    },
    async deleteOldRefusals({ keep, batch }) {
      const refused = db.selectFrom('events').select('seq').where('is_refusal', '=', 1);
      const surplus = await refused.orderBy('seq', 'desc').offset(keep).limit(1).executeTakeFirst();
      if (surplus === undefined) return 0;
      const oldest = refused.where('seq', '<=', surplus.seq).orderBy('seq').limit(batch);
      const done = await db.deleteFrom('events').where('seq', 'in', oldest).executeTakeFirst();
      return Number(done.numDeletedRows);
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
