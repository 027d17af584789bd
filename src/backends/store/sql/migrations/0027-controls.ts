/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function controls(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      for (const table of ['deploys', 'rollouts']) {
        await sql.raw(`alter table ${table} add column control ${text} not null default ''`).execute(db);
      }
    },
  };
}
