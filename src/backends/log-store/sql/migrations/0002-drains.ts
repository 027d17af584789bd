/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';

export const drains: Migration = {
  async up(db: Kysely<unknown>) {
    const statements = [
      `create table log_drains (
        id text not null primary key,
        app text not null,
        seq bigint not null,
        last_success_at text not null,
        last_error_at text not null,
        last_error text not null,
        failures integer not null,
        lost bigint not null,
        untold bigint not null)`,
      // Drains of all apps read in this order; it grows at its end only.
      `create index log_entries_by_seq on log_entries (seq)`,
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
