import type { UserReader, UserWriter } from '../../../domain/users/user-store.ts';
import { needing, userNotFound } from './faults.ts';
import type { Scope, Tables } from './schema.ts';

export function sessionReader({ db }: Scope): Pick<UserReader, 'session'> {
  return {
    async session(tokenHash, now) {
      const row = await db
        .selectFrom('sessions')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      if (row === undefined) return null;
      return { tokenHash: row.token_hash, email: row.email, createdAt: row.created_at, expiresAt: row.expires_at };
    },
  };
}

type SessionWrites =
  'insertSession' | 'deleteSession' | 'deleteSessionsOf' | 'deleteExpiredSessions' | 'deleteOldestSessions';

export function sessionWriter({ db }: Scope): Pick<UserWriter, SessionWrites> {
  return {
    async insertSession(session) {
      const row: Tables['sessions'] = {
        token_hash: session.tokenHash,
        email: session.email,
        created_at: session.createdAt,
        expires_at: session.expiresAt,
      };
      await needing(() => userNotFound(session.email), db.insertInto('sessions').values(row).execute());
    },
    async deleteSession(tokenHash) {
      await db.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute();
    },
    async deleteSessionsOf(email, keptHash) {
      const done = await db
        .deleteFrom('sessions')
        .where('email', '=', email)
        .where('token_hash', '!=', keptHash)
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
    async deleteExpiredSessions(now) {
      const done = await db.deleteFrom('sessions').where('expires_at', '<=', now).executeTakeFirst();
      return Number(done.numDeletedRows);
    },
    async deleteOldestSessions(email, kept) {
      const newest = db.selectFrom('sessions').select('token_hash').where('email', '=', email);
      const done = await db
        .deleteFrom('sessions')
        .where('email', '=', email)
        .where('token_hash', 'not in', newest.orderBy('created_at', 'desc').orderBy('token_hash').limit(kept))
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}
