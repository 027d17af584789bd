/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function drains(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      const table = `create table drains (
        id ${text} primary key,
        app ${text} not null,
        sealed_target ${text} not null,
        actor ${text} not null,
        created_at ${text} not null)`;
      await sql.raw(table).execute(db);
    },
  };
}
