/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function plansAndPlatforms(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const statements = [
    `alter table apps add column plan ${text} not null default 'default'`,
    // Null: the limits are the settings of the platform.
    `alter table releases add column limits_json ${text}`,
    `create table plans (
      name ${text} not null primary key,
      memory_bytes bigint not null,
      cpu_millis integer not null,
      cpu_share integer not null,
      is_default integer not null,
      created_at ${text} not null)`,
    // Without a definition it is a platform that the program brings, and only what was changed of it is here.
    `create table platforms (
      name ${text} not null primary key,
      definition ${text},
      is_disabled integer not null,
      created_at ${text} not null)`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
