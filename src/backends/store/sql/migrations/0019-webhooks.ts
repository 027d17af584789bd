/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** Who is notified of what happens, and each message to them: what waits to be sent, and what became of the rest. */
export function webhooks(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const counted =
    kind === 'postgres' ? 'bigint generated always as identity primary key' : 'integer primary key autoincrement';
  const statements = [
    `create table webhooks (
      id ${text} not null primary key,
      scope ${text} not null,
      owner ${text} not null,
      sealed_target ${text} not null,
      kinds_json ${text} not null,
      actor ${text} not null,
      created_at ${text} not null)`,
    `create table webhook_deliveries (
      seq ${counted},
      id ${text} not null unique,
      webhook ${text} not null references webhooks (id) on delete cascade,
      kind ${text} not null,
      app ${text} not null,
      body ${text} not null,
      state ${text} not null,
      created_at ${text} not null,
      retried_since ${text} not null,
      next_attempt_at ${text} not null,
      attempts integer not null,
      last_attempt_at ${text} not null,
      status integer not null,
      answer ${text} not null)`,
    `create index webhook_deliveries_newest on webhook_deliveries (webhook, seq)`,
    `create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where state = 'waiting'`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
