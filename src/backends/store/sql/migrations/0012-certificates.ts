/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

export function certificates(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  const statements = [
    `create table certificates (
       id ${text} primary key,
       names_json ${text} not null,
       source ${text} not null,
       app ${text} not null,
       state ${text} not null,
       cause ${text},
       problem ${text} not null,
       failures integer not null,
       next_attempt_at ${text},
       chain ${text} not null,
       sealed_key ${text} not null,
       issuer ${text} not null,
       not_before ${text} not null,
       not_after ${text} not null,
       ask_again_at ${text},
       authority ${text} not null,
       order_url ${text} not null,
       sealed_pending_key ${text} not null,
       created_at ${text} not null)`,
    `create table authority_identities (
       authority ${text} primary key,
       sealed_key ${text} not null,
       account ${text} not null)`,
  ];
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
