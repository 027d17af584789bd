/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** What is set on an app in place of files in its source; null for nothing. */
export function appSettings(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      for (const table of ['apps', 'releases']) {
        await sql.raw(`alter table ${table} add column settings_json ${text}`).execute(db);
      }
    },
  };
}
