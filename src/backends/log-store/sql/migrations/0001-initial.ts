/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';

export const initial: Migration = {
  async up(db: Kysely<unknown>) {
    const statements = [
      `create table log_entries (
        app text not null,
        seq bigint not null,
        at text not null,
        source text not null,
        unit text not null,
        unit_id text not null,
        release integer not null,
        message text not null,
        primary key (app, seq))`,
      `create table log_apps (
        app text not null primary key,
        entries bigint not null,
        bytes bigint not null)`,
      `create table log_offsets (
        unit_id text not null primary key,
        position bigint not null)`,
      `create table log_counter (last_seq bigint not null)`,
      `insert into log_counter (last_seq) values (0)`,
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
