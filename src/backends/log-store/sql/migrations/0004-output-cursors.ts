/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';

/** How far output is stored is said in the words of the engine that it comes from; until here it was a number of bytes. */
export const outputCursors: Migration = {
  async up(db: Kysely<unknown>) {
    const statements = [
      `create table log_cursors (
        unit_id text not null primary key,
        output_cursor text not null)`,
      `insert into log_cursors (unit_id, output_cursor) select unit_id, cast(position as text) from log_offsets`,
      `drop table log_offsets`,
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
