/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function services(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const statements = [
    `create table services (
      name ${text} not null primary key,
      kind ${text} not null,
      url ${text} not null,
      username ${text} not null,
      sealed_password ${text} not null,
      is_restricted integer not null,
      doc ${text} not null,
      created_at ${text} not null)`,
    `create table service_teams (
      service ${text} not null references services (name) on delete cascade,
      team ${text} not null references teams (name) on delete cascade,
      is_owner integer not null,
      primary key (service, team, is_owner))`,
    `create index service_teams_team on service_teams (team)`,
    `create table instances (
      id ${text} not null primary key,
      name ${text} not null unique,
      service ${text} not null references services (name),
      team_owner ${text} not null,
      actor ${text} not null,
      plan ${text} not null,
      description ${text} not null,
      tags_json ${text} not null,
      sealed_parameters ${text} not null,
      state ${text} not null,
      attempts integer not null,
      problem ${text} not null,
      created_at ${text} not null)`,
    `create index instances_service on instances (service)`,
    `create table instance_teams (
      instance ${text} not null references instances (id) on delete cascade,
      team ${text} not null references teams (name) on delete cascade,
      primary key (instance, team))`,
    `create index instance_teams_team on instance_teams (team)`,
    `create table bindings (
      id ${text} not null primary key,
      instance ${text} not null references instances (id) on delete cascade,
      app ${text} not null,
      state ${text} not null,
      app_host ${text} not null,
      actor ${text} not null,
      sealed_vars ${text} not null,
      unit_hosts_json ${text} not null,
      attempts integer not null,
      problem ${text} not null,
      created_at ${text} not null,
      unique (instance, app))`,
    `create index bindings_app on bindings (app)`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
