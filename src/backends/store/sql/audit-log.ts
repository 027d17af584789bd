import { type AuditLogReader, type AuditLogWriter, contentOf, type Phase } from '../../../domain/audit/log-rows.ts';
import { listOf } from '../../../sql/list-of.ts';
import { fromEventRow } from './events.ts';
import type { Scope } from './schema.ts';

const LOGGED_AFTER: Readonly<Record<Phase, number>> = { begin: 1, end: 2, whole: 2 };
const KEY_CONTEXT = 'audit-key';

export function auditLogReader({ db, sealer }: Scope): AuditLogReader {
  return {
    async auditRows(from, limit) {
      const rows = await db
        .selectFrom('audit_rows')
        .leftJoin('events', 'events.id', 'audit_rows.event')
        .selectAll('events')
        .select(['audit_rows.idx', 'audit_rows.phase', 'audit_rows.salt', 'audit_rows.leaf'])
        .where('audit_rows.idx', '>=', from)
        .orderBy('audit_rows.idx')
        .limit(limit)
        .execute();
      return rows.map(({ idx, phase: text, salt, leaf, ...event }) => {
        const phase = text as Phase;
        const { id } = event;
        return {
          index: Number(idx),
          phase,
          salt,
          leaf,
          content: id === null ? null : contentOf(phase, fromEventRow(event)),
        };
      });
    },
    async auditCheckpoints(from, to) {
      const all = db.selectFrom('audit_checkpoints').select(['size', 'note']);
      const rows = await all.where('size', '>', from).where('size', '<=', to).orderBy('size').execute();
      return rows.map(({ size, note }) => ({ size: Number(size), note }));
    },
    async auditHead() {
      const all = db.selectFrom('audit_checkpoints').selectAll();
      const row = await all.orderBy('size', 'desc').limit(1).executeTakeFirst();
      if (row === undefined) return null;
      return { size: Number(row.size), note: row.note, frontier: JSON.parse(row.frontier_json) as string[] };
    },
    async auditKey() {
      const row = await db.selectFrom('audit_key').selectAll().executeTakeFirst();
      return row === undefined ? null : { origin: row.origin, privateKey: sealer.open(row.sealed_key, KEY_CONTEXT) };
    },
    async unloggedEvents(limit) {
      const all = db.selectFrom('events').selectAll().where('logged', '<', 2);
      const due = all.where((or) => or.or([or('logged', '=', 0), or('ended_at', '!=', '')]));
      const rows = await due.orderBy('seq').limit(limit).execute();
      return rows.map((row) => {
        const isOver = row.ended_at !== '';
        const phase = row.logged === 1 ? 'end' : isOver ? 'whole' : 'begin';
        return { phase, event: fromEventRow(row) };
      });
    },
    async firstKeptAuditRow() {
      const kept = db.selectFrom('audit_rows').select('idx').where('salt', '!=', '');
      const first = await kept.orderBy('idx').limit(1).executeTakeFirst();
      return first === undefined ? null : Number(first.idx);
    },
  };
}

export function auditLogWriter({ db, kind, sealer }: Scope): AuditLogWriter {
  return {
    async insertAuditKey({ origin, privateKey }) {
      await db
        .insertInto('audit_key')
        .values({ origin, sealed_key: sealer.seal(privateKey, KEY_CONTEXT) })
        .execute();
    },
    async appendAuditRows(rows) {
      const values = rows.map(({ index, event, phase, salt, leaf }) => ({ idx: index, event, phase, salt, leaf }));
      await db.insertInto('audit_rows').values(values).execute();
      for (const logged of [1, 2]) {
        const ids = rows.filter(({ phase }) => LOGGED_AFTER[phase] === logged).map(({ event }) => event);
        if (ids.length === 0) continue;
        await db.updateTable('events').set({ logged }).where('id', 'in', listOf(kind, ids)).execute();
      }
    },
    async putAuditHead({ size, note, frontier }) {
      await db
        .updateTable('audit_checkpoints')
        .set({ frontier_json: '[]' })
        .where('frontier_json', '!=', '[]')
        .execute();
      const row = { size, note, frontier_json: JSON.stringify(frontier) };
      await db.insertInto('audit_checkpoints').values(row).execute();
    },
    async deleteAuditCheckpoints(size) {
      const all = db.selectFrom('audit_checkpoints').select('size').where('size', '<=', size);
      const largest = await all.orderBy('size', 'desc').limit(1).executeTakeFirst();
      if (largest === undefined) return;
      await db.deleteFrom('audit_checkpoints').where('size', '<', largest.size).execute();
    },
  };
}
