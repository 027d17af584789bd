/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** Of both columns, so that PostgreSQL takes a token for a part of a key: whoever has locked the row by `for key share` keeps the token as it is. */
const INDEX = 'create unique index leases_token on leases (key, token)';

export function leaseTokens(kind: DatabaseKind): Migration {
  const counter =
    kind === 'postgres'
      ? ['create sequence lease_tokens']
      : ['create table lease_tokens (last integer not null)', 'insert into lease_tokens (last) values (0)'];
  return {
    async up(db: Kysely<unknown>) {
      const statements = ['alter table leases add column token bigint not null default 0', INDEX, ...counter];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
