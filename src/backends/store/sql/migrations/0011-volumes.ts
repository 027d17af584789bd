/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** Volumes of apps, and which of them the units of a release have. */
export function volumes(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const bytes = kind === 'postgres' ? 'bigint' : 'integer';
  return {
    async up(db: Kysely<unknown>) {
      await sql
        .raw(
          `create table volumes (
            app ${text} not null references apps (name) on delete cascade,
            name ${text} not null,
            max_bytes ${bytes} not null,
            is_single integer not null,
            state ${text} not null,
            actor ${text} not null,
            created_at ${text} not null,
            primary key (app, name)
          )`,
        )
        .execute(db);
      await sql.raw(`alter table releases add column mounts_json ${text} not null default '[]'`).execute(db);
    },
  };
}
