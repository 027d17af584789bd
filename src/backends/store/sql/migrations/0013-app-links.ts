/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** The names of the apps that an app is linked to, as a JSON array. */
export function appLinks(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw(`alter table apps add column links_json ${text} not null default '[]'`).execute(db);
    },
  };
}
