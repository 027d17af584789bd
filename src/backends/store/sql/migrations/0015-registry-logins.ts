/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** Who apps are at registries of images; `team` is empty where all of them are. */
export function registryLogins(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      await sql
        .raw(
          `create table registry_logins (
            host ${text} not null,
            team ${text} not null,
            user_name ${text} not null,
            sealed_password ${text} not null,
            actor ${text} not null,
            created_at ${text} not null,
            primary key (host, team)
          )`,
        )
        .execute(db);
    },
  };
}
