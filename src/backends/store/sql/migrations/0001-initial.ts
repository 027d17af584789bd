/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function initial(kind: DatabaseKind): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of [...people(kind), ...apps(kind), ...deploys(kind), ...rest(kind)]) {
        await sql.raw(statement).execute(db);
      }
    },
  };
}

/** Sorted by byte on every server, whatever its locale. */
function textType(kind: DatabaseKind): string {
  return kind === 'postgres' ? 'text collate "C"' : 'text';
}

function people(kind: DatabaseKind): string[] {
  const text = textType(kind);
  return [
    `create table users (
      email ${text} not null primary key,
      password_hash ${text} not null,
      is_admin integer not null,
      created_at ${text} not null)`,
    `create index users_admins on users (is_admin, created_at, email)`,
    `create table sessions (
      token_hash ${text} not null primary key,
      email ${text} not null references users (email) on delete cascade,
      created_at ${text} not null,
      expires_at ${text} not null)`,
    `create index sessions_email on sessions (email)`,
    `create index sessions_expires_at on sessions (expires_at)`,
    `create table ssh_keys (
      fingerprint ${text} not null primary key,
      email ${text} not null references users (email) on delete cascade,
      name ${text} not null,
      key_text ${text} not null,
      created_at ${text} not null,
      unique (email, name))`,
    `create table teams (
      name ${text} not null primary key,
      created_at ${text} not null)`,
    `create table team_members (
      team ${text} not null references teams (name) on delete cascade,
      email ${text} not null references users (email) on delete cascade,
      primary key (team, email))`,
    `create index team_members_email on team_members (email, team)`,
  ];
}

function apps(kind: DatabaseKind): string[] {
  const text = textType(kind);
  return [
    `create table apps (
      name ${text} not null primary key,
      platform ${text} not null,
      owner ${text} not null,
      team_owner ${text} not null,
      pool ${text} not null,
      description ${text} not null,
      cname_json ${text} not null,
      created_at ${text} not null,
      release integer,
      rollout ${text},
      desired ${text} not null,
      deploys integer not null,
      removing integer not null)`,
    `create table app_teams (
      app ${text} not null references apps (name) on delete cascade,
      team ${text} not null references teams (name),
      primary key (app, team))`,
    `create index app_teams_team on app_teams (team, app)`,
    `create table env (
      app ${text} not null references apps (name) on delete cascade,
      name ${text} not null,
      sealed_value ${text} not null,
      is_public integer not null,
      managed_by ${text} not null,
      primary key (app, name))`,
    `create table releases (
      app ${text} not null references apps (name) on delete cascade,
      number integer not null,
      artifact ${text} not null,
      deploy_id ${text},
      commit_id ${text} not null,
      sealed_env ${text} not null,
      processes_json ${text} not null,
      health_check_json ${text},
      hooks_json ${text} not null,
      reason ${text} not null,
      actor ${text} not null,
      created_at ${text} not null,
      primary key (app, number))`,
    `create table units (
      id ${text} not null primary key,
      app ${text} not null references apps (name) on delete cascade,
      number integer not null,
      process ${text} not null,
      release integer not null,
      rollout ${text} not null,
      state ${text} not null,
      address_json ${text},
      handle ${text},
      exits integer not null,
      last_exit_json ${text},
      created_at ${text} not null,
      unique (app, number))`,
    `create table rollouts (
      id ${text} not null primary key,
      app ${text} not null references apps (name) on delete cascade,
      release integer not null,
      reason ${text} not null,
      actor ${text} not null,
      state ${text} not null,
      cause ${text},
      started_at ${text} not null,
      finished_at ${text})`,
    `create index rollouts_app on rollouts (app)`,
    `create index rollouts_state on rollouts (state)`,
  ];
}

function deploys(kind: DatabaseKind): string[] {
  const text = textType(kind);
  return [
    // No reference to apps: the history of a removed app stays.
    `create table deploys (
      id ${text} not null primary key,
      app ${text} not null,
      state ${text} not null,
      commit_id ${text} not null,
      origin ${text} not null,
      actor ${text} not null,
      started_at ${text} not null,
      finished_at ${text},
      duration_ms integer not null,
      release integer,
      artifact ${text} not null,
      cause ${text},
      error ${text} not null,
      phases_json ${text} not null,
      failed_requests integer not null,
      removed_at ${text})`,
    `create index deploys_app on deploys (app, id)`,
    `create index deploys_state on deploys (state)`,
    `create index deploys_kept on deploys (id) where removed_at is null`,
    `create table deploy_log (
      deploy_id ${text} not null references deploys (id) on delete cascade,
      chunk integer not null,
      lines_json ${text} not null,
      primary key (deploy_id, chunk))`,
  ];
}

function rest(kind: DatabaseKind): string[] {
  const text = textType(kind);
  const counted =
    kind === 'postgres' ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  return [
    `create table events (
      seq ${counted},
      id ${text} not null,
      at ${text} not null,
      actor ${text} not null,
      address ${text} not null,
      action ${text} not null,
      target ${text} not null,
      detail ${text} not null,
      error ${text} not null)`,
    `create table leases (
      key ${text} not null primary key,
      owner ${text} not null,
      expires_ms bigint not null)`,
    `create table settings (
      key ${text} not null primary key,
      value ${text} not null)`,
  ];
}
