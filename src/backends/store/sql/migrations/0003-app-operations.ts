/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function appOperations(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const statements = [
    `alter table apps add column stopped_processes_json ${text} not null default '[]'`,
    `alter table apps add column swapped_with ${text}`,
    `create table pools (
      name ${text} not null primary key,
      is_public integer not null,
      created_at ${text} not null)`,
    `create table pool_teams (
      pool ${text} not null references pools (name) on delete cascade,
      team ${text} not null references teams (name) on delete cascade,
      primary key (pool, team))`,
    `create index pool_teams_team on pool_teams (team, pool)`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
