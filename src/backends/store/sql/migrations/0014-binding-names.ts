/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** How apps call the variables of what is bound to them, and what their files say of it. */
export function bindingNames(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      for (const table of ['bindings', 'releases']) {
        await sql.raw(`alter table ${table} add column names_json ${text} not null default '{}'`).execute(db);
      }
    },
  };
}
