/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function letters(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw(`create table letters (name ${text} primary key, sealed_text ${text} not null)`).execute(db);
    },
  };
}
