/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** What the source of a release has to be shown while the app is under maintenance; '' for nothing. */
export function maintenancePage(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw(`alter table releases add column maintenance_page ${text} not null default ''`).execute(db);
    },
  };
}
