/** Immutable: released databases have it. Changes are further migrations. */
import { sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { DatabaseKind } from '../../../../sql/database.ts';

/** How the edge treats the requests to an app, as a JSON object of what is not as it is by itself; null for nothing. */
export function appEdge(kind: DatabaseKind): Migration {
  const text = kind === 'postgres' ? 'text collate "C"' : 'text';
  return {
    async up(db: Kysely<unknown>) {
      await sql.raw(`alter table apps add column edge_json ${text}`).execute(db);
    },
  };
}
