/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** The audit trail as the leaves of a hash tree, with what it has signed. A row outlives what it says. */
export function auditLog(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const statements = [
    `alter table events add column token ${text} not null default ''`,
    `alter table events add column deploy ${text} not null default ''`,
    `alter table events add column changes_json ${text} not null default '[]'`,
    `alter table events add column logged integer not null default 0`,
    `create index events_unlogged on events (seq) where logged < 2`,
    `create table audit_rows (
      idx bigint not null primary key,
      event ${text} not null,
      phase ${text} not null,
      salt ${text} not null,
      leaf ${text} not null)`,
    `create index audit_rows_event on audit_rows (event) where event != ''`,
    `create index audit_rows_kept on audit_rows (idx) where salt != ''`,
    `create table audit_checkpoints (
      size bigint not null primary key,
      note ${text} not null,
      frontier_json ${text} not null)`,
    `create table audit_key (
      origin ${text} not null primary key,
      sealed_key ${text} not null)`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
