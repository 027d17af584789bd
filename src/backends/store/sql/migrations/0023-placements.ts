/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';

/** Pools and releases that are there have none: they are on this server's own engine. */
export function placements(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const table of ['pools', 'releases']) {
        await sql.raw(`alter table ${table} add column placement_json text`).execute(db);
      }
    },
  };
}
