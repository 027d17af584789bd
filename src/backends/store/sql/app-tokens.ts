import type { AppTokenReader, AppTokenWriter } from '../../../domain/app-tokens/app-token-store.ts';
import type { AppToken } from '../../../domain/app-tokens/app-token.ts';
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
      return row === undefined ? null : fromRow(row);
    },
    async appTokens(app) {
      const rows = db.selectFrom('app_tokens').selectAll().where('app', '=', app).orderBy('created_at', 'desc');
      return (await rows.orderBy('token_hash').execute()).map(fromRow);
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
    async deleteAppToken(tokenHash) {
      const done = await db.deleteFrom('app_tokens').where('token_hash', '=', tokenHash).executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
    async deleteExpiredAppTokens(now) {
      const done = await db.deleteFrom('app_tokens').where('expires_at', '<=', now).executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}

function fromRow(row: Tables['app_tokens']): AppToken {
  const { token_hash: tokenHash, app, actor: by, created_at: createdAt, expires_at: expiresAt } = row;
  return { tokenHash, app, by, createdAt, expiresAt };
}
