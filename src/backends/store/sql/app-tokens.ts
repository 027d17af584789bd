import type { AppTokenReader, AppTokenWriter } from '../../../domain/app-tokens/app-token-store.ts';
import { appNotFound, needing } from './faults.ts';
import type { Scope, Tables } from './schema.ts';

export function appTokenReader({ db }: Scope): AppTokenReader {
  return {
    async appToken(tokenHash, now) {
      const row = await db
        .selectFrom('app_tokens')
        .selectAll()
        .where('token_hash', '=', tokenHash)
        .where('expires_at', '>', now)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { app, actor: by, created_at: createdAt, expires_at: expiresAt } = row;
      return { tokenHash, app, by, createdAt, expiresAt };
    },
  };
}

export function appTokenWriter({ db }: Scope): AppTokenWriter {
  return {
    async insertAppToken(token) {
      const row: Tables['app_tokens'] = {
        token_hash: token.tokenHash,
        app: token.app,
        actor: token.by,
        created_at: token.createdAt,
        expires_at: token.expiresAt,
      };
      await needing(() => appNotFound(token.app), db.insertInto('app_tokens').values(row).execute());
    },
    async deleteAppTokens(app) {
      const done = await db.deleteFrom('app_tokens').where('app', '=', app).executeTakeFirst();
      return Number(done.numDeletedRows);
    },
    async deleteExpiredAppTokens(now) {
      const done = await db.deleteFrom('app_tokens').where('expires_at', '<=', now).executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}
