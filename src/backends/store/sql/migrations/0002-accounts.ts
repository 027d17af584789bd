/** Immutable: released databases have it. API keys, password resets, app tokens and limits. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function accounts(kind: DatabaseKind): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements(kind)) await sql.raw(statement).execute(db);
    },
  };
}

function statements(kind: DatabaseKind): string[] {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return [
    `create table api_keys (
      email ${text} not null primary key references users (email) on delete cascade,
      key_hash ${text} not null unique,
      sealed_key ${text} not null,
      created_at ${text} not null)`,
    `create table password_resets (
      token_hash ${text} not null primary key,
      email ${text} not null references users (email) on delete cascade,
      created_at ${text} not null,
      expires_at ${text} not null)`,
    `create index password_resets_email on password_resets (email)`,
    `create index password_resets_expires_at on password_resets (expires_at)`,
    `create table app_tokens (
      token_hash ${text} not null primary key,
      app ${text} not null references apps (name) on delete cascade,
      actor ${text} not null,
      created_at ${text} not null,
      expires_at ${text} not null)`,
    `create index app_tokens_app on app_tokens (app)`,
    `create index app_tokens_expires_at on app_tokens (expires_at)`,
    // Without a row the default of the platform holds; null is without limit.
    `create table user_limits (
      email ${text} not null primary key references users (email) on delete cascade,
      apps integer)`,
    `create table app_limits (
      app ${text} not null primary key references apps (name) on delete cascade,
      units integer)`,
    `create index apps_owner on apps (owner)`,
  ];
}
