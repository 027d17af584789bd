/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';

export function planDisk(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw('alter table plans add column disk_bytes bigint not null default 0').execute(db);
    },
  };
}
