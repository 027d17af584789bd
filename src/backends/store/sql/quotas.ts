import type { QuotaReader, QuotaWriter } from '../../../domain/quotas/quota-store.ts';
import { appNotFound, needing, userNotFound } from './faults.ts';
import type { Scope } from './schema.ts';

export function quotaReader({ db }: Scope): QuotaReader {
  return {
    async userLimit(email) {
      const row = await db.selectFrom('user_limits').select('apps').where('email', '=', email).executeTakeFirst();
      return row?.apps;
    },
    async appLimit(app) {
      const row = await db.selectFrom('app_limits').select('units').where('app', '=', app).executeTakeFirst();
      return row?.units;
    },
    async appsOwned(email) {
      const row = await db
        .selectFrom('apps')
        .select((apps) => apps.fn.countAll<number | string | bigint>().as('count'))
        .where('owner', '=', email)
        .executeTakeFirstOrThrow();
      return Number(row.count);
    },
  };
}

export function quotaWriter({ db }: Scope): QuotaWriter {
  return {
    async setUserLimit(email, limit) {
      const upsert = db
        .insertInto('user_limits')
        .values({ email, apps: limit })
        .onConflict((conflict) => conflict.column('email').doUpdateSet({ apps: limit }));
      await needing(() => userNotFound(email), upsert.execute());
    },
    async setAppLimit(app, limit) {
      const upsert = db
        .insertInto('app_limits')
        .values({ app, units: limit })
        .onConflict((conflict) => conflict.column('app').doUpdateSet({ units: limit }));
      await needing(() => appNotFound(app), upsert.execute());
    },
  };
}
