/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function deployTurns(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const columns = [
    `turn integer not null default 0`,
    `ref ${text} not null default ''`,
    `replaced_by ${text} not null default ''`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const column of columns) await sql.raw(`alter table deploys add column ${column}`).execute(db);
    },
  };
}
