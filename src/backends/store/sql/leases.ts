import { sql } from 'kysely';
import type { Store } from '../../../domain/store.ts';
import type { Scope } from './schema.ts';

/** Each is one statement, so two who want the same lease are told apart by the database. */
export function leases({ db, kind }: Scope): Pick<Store, 'lease' | 'releaseLease'> {
  // Who takes a PostgreSQL over may be on another machine, with another clock; a SQLite file stays on one.
  const nowMs = () =>
    kind === 'postgres' ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql.val(Date.now());
  return {
    async lease(key, owner, ttlMs) {
      const now = nowMs();
      const held = await db
        .insertInto('leases')
        .values({ key, owner, expires_ms: sql<number>`${now} + ${sql.lit(Math.ceil(ttlMs))}` })
        .onConflict((conflict) =>
          conflict
            .column('key')
            .doUpdateSet((row) => ({ owner: row.ref('excluded.owner'), expires_ms: row.ref('excluded.expires_ms') }))
            .where((row) => row.or([row('leases.owner', '=', owner), row('leases.expires_ms', '<=', now)])),
        )
        .returning('owner')
        .executeTakeFirst();
      return held !== undefined;
    },
    async releaseLease(key, owner) {
      await db.deleteFrom('leases').where('key', '=', key).where('owner', '=', owner).execute();
    },
  };
}
