/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function repositories(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const bytes = kind === 'postgres' ? 'bytea' : 'blob';
  const statements = [
    `create table repositories (
       app ${text} primary key,
       id ${text} not null,
       version integer not null,
       head ${text} not null,
       refs_json ${text} not null,
       packs_json ${text} not null,
       shallow_json ${text} not null)`,
    `create table repository_packs (
       app ${text} not null,
       pack ${text} not null,
       part integer not null,
       data ${bytes} not null,
       stored_at ${text} not null,
       primary key (app, pack, part))`,
    // Packs are compressed already.
    ...(kind === 'postgres' ? ['alter table repository_packs alter column data set storage external'] : []),
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
