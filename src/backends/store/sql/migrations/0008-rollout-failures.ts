/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';

/** What the router had counted when a rollout began, and how many failed requests are the rollout's own. */
export function rolloutFailures(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw('alter table rollouts add column failures_before bigint not null default 0').execute(db);
      await sql.raw('alter table rollouts add column failed_requests bigint').execute(db);
    },
  };
}
