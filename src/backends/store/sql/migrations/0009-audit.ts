/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function audit(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const statements = [
    `alter table events add column ended_at ${text} not null default ''`,
    `alter table events add column is_refusal integer not null default 0`,
    `update events set ended_at = at`,
    `create unique index events_id on events (id)`,
    `create index events_refused on events (seq) where is_refusal = 1`,
    `create index events_target on events (target, seq)`,
    `create index events_actor on events (actor, seq)`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
