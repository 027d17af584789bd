/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** What was measured of apps. */
export function metrics(kind: DatabaseKind): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const bytes = kind === 'postgres' ? 'bytea' : 'blob';
      const statements = [
        `create table metrics (
          app text not null,
          step_ms bigint not null,
          start_ms bigint not null,
          packed ${bytes} not null,
          primary key (app, step_ms, start_ms))`,
        'create index metrics_by_age on metrics (step_ms, start_ms)',
      ];
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
