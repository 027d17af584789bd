import type { UserReader, UserWriter } from '../../../domain/users/user-store.ts';
import { needing, userNotFound } from './faults.ts';
import type { Scope, Tables } from './schema.ts';

export function apiKeyReader({ db, sealer }: Scope): Pick<UserReader, 'apiKey' | 'apiKeyOwner'> {
  return {
    async apiKey(email) {
      const row = await db.selectFrom('api_keys').selectAll().where('email', '=', email).executeTakeFirst();
      if (row === undefined) return null;
      const key = sealer.open(row.sealed_key, context(email));
      return { email, keyHash: row.key_hash, key, createdAt: row.created_at };
    },
    async apiKeyOwner(keyHash) {
      const row = await db.selectFrom('api_keys').select('email').where('key_hash', '=', keyHash).executeTakeFirst();
      return row?.email ?? null;
    },
  };
}

export function apiKeyWriter({ db, sealer }: Scope): Pick<UserWriter, 'putApiKey' | 'deleteApiKey'> {
  return {
    async putApiKey({ email, keyHash, key, createdAt }) {
      const secret = { key_hash: keyHash, sealed_key: sealer.seal(key, context(email)), created_at: createdAt };
      const row: Tables['api_keys'] = { email, ...secret };
      const upsert = db
        .insertInto('api_keys')
        .values(row)
        .onConflict((conflict) => conflict.column('email').doUpdateSet(secret));
      await needing(() => userNotFound(email), upsert.execute());
    },
    async deleteApiKey(email) {
      await db.deleteFrom('api_keys').where('email', '=', email).execute();
    },
  };
}

function context(email: string): string {
  return `api-key:${email}`;
}
