import { type RawBuilder, sql } from 'kysely';
import type { Lease, LeaseWriter, Store } from '../../../domain/store.ts';
import type { Scope } from './schema.ts';

/** Of those who want the same lease, the database decides who gets it. They are renewed over `renewing`. */
export function leases(
  scope: Scope,
  renewing: Scope['db'],
): Pick<Store, 'lease' | 'renewLease' | 'releaseLease' | 'releaseLeases' | 'leases'> {
  const { db, kind } = scope;
  // Who takes a PostgreSQL over may be on another machine, with another clock; a SQLite file stays on one.
  const nowMs = () =>
    kind === 'postgres' ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql.val(Date.now());
  const endOf = (ttlMs: number) => sql<number>`${nowMs()} + ${sql.lit(Math.ceil(ttlMs))}`;

  async function take({ db }: Pick<Scope, 'db'>, key: string, owner: string, ttlMs: number, token: RawBuilder<number>) {
    const taken = await db
      .insertInto('leases')
      .values({ key, owner, expires_ms: endOf(ttlMs), token })
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet((row) => ({
            owner: row.ref('excluded.owner'),
            expires_ms: row.ref('excluded.expires_ms'),
            token: row.ref('excluded.token'),
          }))
          .where((row) => row.or([row('leases.owner', '=', owner), row('leases.expires_ms', '<=', nowMs())])),
      )
      .returning('token')
      .executeTakeFirst();
    return taken?.token ?? null;
  }

  return {
    async lease(key, owner, ttlMs) {
      if (kind === 'postgres') return take(scope, key, owner, ttlMs, sql<number>`nextval('lease_tokens')`);
      return db.transaction().execute(async (tx) => {
        await tx
          .updateTable('lease_tokens')
          .set({ last: sql<number>`last + 1` })
          .execute();
        return take({ db: tx }, key, owner, ttlMs, sql<number>`(select last from lease_tokens)`);
      });
    },
    async renewLease({ key, token }, ttlMs) {
      const renewed = await renewing
        .updateTable('leases')
        .set({ expires_ms: endOf(ttlMs) })
        .where('key', '=', key)
        .where('token', '=', token)
        .executeTakeFirst();
      return renewed.numUpdatedRows > 0n;
    },
    async releaseLease({ key, token }) {
      await db.deleteFrom('leases').where('key', '=', key).where('token', '=', token).execute();
    },
    async releaseLeases(owner) {
      await db.deleteFrom('leases').where('owner', '=', owner).execute();
    },
    async leases(prefix) {
      const rows = await db
        .selectFrom('leases')
        .select(['key', 'owner', sql<number | boolean>`expires_ms <= ${nowMs()}`.as('is_expired')])
        .where(sql<number>`substr(key, 1, ${sql.lit(prefix.length)})`, '=', sql<number>`${prefix}`)
        .orderBy('key')
        .execute();
      return rows.map(({ key, owner, is_expired }) => ({ key, owner, isExpired: Boolean(is_expired) }));
    },
  };
}

export function leaseWriter({ db, kind }: Scope): LeaseWriter {
  return {
    async lostLeases(leases) {
      const lost: Lease[] = [];
      for (const lease of leases) {
        const held = db.selectFrom('leases').select('token').where('key', '=', lease.key);
        const ours = held.where('token', '=', lease.token);
        // A key lock lets renewals pass, which change no part of a key, and holds up whoever takes the lease.
        const row = await (kind === 'postgres' ? ours.forKeyShare() : ours).executeTakeFirst();
        if (row === undefined) lost.push(lease);
      }
      return lost;
    },
  };
}
