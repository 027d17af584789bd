import type { UserWriter } from '../../../domain/users/user-store.ts';
import { needing, userNotFound } from './faults.ts';
import type { Scope, Tables } from './schema.ts';

type Resets =
  | 'insertPasswordReset'
  | 'hasPasswordReset'
  | 'takePasswordReset'
  | 'deletePasswordResets'
  | 'deleteExpiredPasswordResets';

export function passwordResetWriter({ db }: Scope): Pick<UserWriter, Resets> {
  return {
    async insertPasswordReset(reset) {
      const row: Tables['password_resets'] = {
        token_hash: reset.tokenHash,
        email: reset.email,
        created_at: reset.createdAt,
        expires_at: reset.expiresAt,
      };
      await needing(() => userNotFound(reset.email), db.insertInto('password_resets').values(row).execute());
    },
    async hasPasswordReset(tokenHash, email, now) {
      const found = await db
        .selectFrom('password_resets')
        .select('email')
        .where('token_hash', '=', tokenHash)
        .where('email', '=', email)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      return found !== undefined;
    },
    async takePasswordReset(tokenHash, email, now) {
      const done = await db
        .deleteFrom('password_resets')
        .where('token_hash', '=', tokenHash)
        .where('email', '=', email)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
    async deletePasswordResets(email) {
      await db.deleteFrom('password_resets').where('email', '=', email).execute();
    },
    async deleteExpiredPasswordResets(now) {
      const done = await db.deleteFrom('password_resets').where('expires_at', '<=', now).executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}
