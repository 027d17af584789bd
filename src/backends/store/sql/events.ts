import type { EventEnd, EventFilter, EventReader, EventWriter, PlatformEvent } from '../../../domain/audit/events.ts';
import type { Forgotten } from '../../../domain/audit/log-rows.ts';
import { type DeleteQueryBuilder, type DeleteResult, sql } from 'kysely';
import { listOf } from '../../../sql/list-of.ts';
import type { EventsTable, Scope, Tables } from './schema.ts';

const NOTHING: Forgotten = { events: 0, rows: [] };

export function eventReader(scope: Scope): EventReader {
  const { db } = scope;
  return {
    async events(limit, filter = {}) {
      const rows = await selected(scope, filter)
        .orderBy('seq', 'desc')
        .limit(limit)
        .offset(filter.skip ?? 0)
        .execute();
      return rows.map(fromEventRow);
    },
    async event(id) {
      const row = await db.selectFrom('events').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromEventRow(row);
    },
  };
}

function selected({ db, kind }: Scope, { visible, target, action, actor, failedOnly, since, until }: EventFilter) {
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
  if (since !== undefined) query = query.where('at', '>=', since);
  if (until !== undefined) query = query.where('at', '<', until);
  return query;
}

export function fromEventRow(row: Nullable<EventsTable>): PlatformEvent {
  const { id, at, actor, token, address, action, target, detail, error, deploy } = row;
  return {
    ...{ id: id ?? '', at: at ?? '', endedAt: row.ended_at ?? '', actor: actor ?? '', token: token ?? '' },
    ...{ address: address ?? '', action: action ?? '', target: target ?? '', detail: detail ?? '' },
    ...{ error: error ?? '', isRefusal: row.is_refusal === 1, deploy: deploy ?? '' },
    changes: JSON.parse(row.changes_json ?? '[]') as PlatformEvent['changes'],
  };
}

/** As a join gives it that finds nothing. */
type Nullable<T> = { readonly [Field in Exclude<keyof T, 'seq' | 'logged'>]: T[Field] | null };

export function eventWriter(scope: Scope): EventWriter {
  const { db } = scope;
  const endOf = ({ endedAt, error, deploy, changes }: EventEnd) => ({
    ended_at: endedAt,
    error,
    deploy,
    changes_json: JSON.stringify(changes),
  });
  const ended = (id: string, end: EventEnd) =>
    // What the audit log says of an end is not changed any more.
    db.updateTable('events').set(endOf(end)).where('id', '=', id).where('ended_at', '=', '');

  const forget = async (query: DeleteQueryBuilder<Tables, 'events', DeleteResult>): Promise<Forgotten> => {
    const gone = await query.returning('id').execute();
    return {
      events: gone.length,
      rows: await forgetAuditRows(
        scope,
        gone.map(({ id }) => id),
      ),
    };
  };

  return {
    async insertEvent(event) {
      const { id, at, actor, token, address, action, isRefusal } = event;
      // An attempt with an impossible name is recorded like any other.
      const [target, detail] = [event.target.replaceAll('\0', '\uFFFD'), event.detail.replaceAll('\0', '\uFFFD')];
      const row = {
        id,
        at,
        actor,
        token,
        address,
        action,
        target,
        detail,
        is_refusal: Number(isRefusal),
        ...endOf(event),
      };
      const done = await db
        .insertInto('events')
        .values({ ...row, logged: 0 })
        .onConflict((known) => known.column('id').doNothing())
        .executeTakeFirst();
      if ((done.numInsertedOrUpdatedRows ?? 0n) === 0n && event.endedAt !== '') await ended(id, event).execute();
    },
    async endEvent(id, end) {
      await ended(id, end).execute();
    },
    async deleteOldRefusals({ keep, batch }) {
      const refused = db.selectFrom('events').select('seq').where('is_refusal', '=', 1);
      const surplus = await refused.orderBy('seq', 'desc').offset(keep).limit(1).executeTakeFirst();
      if (surplus === undefined) return NOTHING;
      const oldest = refused.where('seq', '<=', surplus.seq).orderBy('seq').limit(batch);
      return forget(db.deleteFrom('events').where('seq', 'in', oldest));
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
      if (last === undefined) return NOTHING;
      const first = oldest[0]?.seq ?? last.seq;
      return forget(db.deleteFrom('events').where('seq', '>=', first).where('seq', '<=', last.seq));
    },
  };
}

/** What the rows of these events say is forgotten; which rows those were. */
async function forgetAuditRows({ db, kind }: Scope, events: readonly string[]): Promise<number[]> {
  if (events.length === 0) return [];
  const rows = await db
    .updateTable('audit_rows')
    .set({ event: '', salt: '' })
    .where('event', 'in', listOf(kind, events))
    .returning('idx')
    .execute();
  return rows.map(({ idx }) => Number(idx));
}
