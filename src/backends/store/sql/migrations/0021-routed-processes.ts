/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** The process types that answer at names of their own, as a JSON list. */
export function routedProcesses(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw(`alter table apps add column routed_processes_json ${text} not null default '[]'`).execute(db);
    },
  };
}
