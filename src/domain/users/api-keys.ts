/** Use cases of API keys (specification 4.7 and 5): one lasting token per user, which can be shown again. */
import { randomHex } from '../../lib/ids.ts';
import type { Act } from '../act.ts';
import type { Caller } from '../caller.ts';
import type { AccountStore } from './account-store.ts';
import type { CallerCache } from './caller-cache.ts';
import { demandUser } from './demand-user.ts';
import { hashToken, TOKEN_DIGITS } from './sessions.ts';
import type { ApiKey } from './user.ts';

const ONLY_USERS = 'Only a user has an API key.';

export interface ApiKeys {
  /** Made on first use. */
  apiKey(caller: Caller): Promise<ApiKey>;
  /** The old one is void at once. */
  regenerateApiKey(caller: Caller): Promise<ApiKey>;
}

export function createApiKeys(deps: { store: AccountStore; act: Act; callers: CallerCache; now: () => Date }): ApiKeys {
  const { store, act, callers, now } = deps;

  function newKey(email: string): ApiKey {
    const key = randomHex(TOKEN_DIGITS);
    return { email, keyHash: hashToken(key), key, createdAt: now().toISOString() };
  }

  return {
    async apiKey(caller) {
      const { email } = demandUser(caller, 'api_key.show', ONLY_USERS);
      return act(caller, 'api_key.show', { email }, { target: `user:${email}` }, async () => {
        const fresh = newKey(email);
        // Looked up inside: of two first requests at once, both are to get the same key.
        return store.transact(async (tx) => {
          const known = await tx.apiKey(email);
          if (known === null) await tx.putApiKey(fresh);
          return known ?? fresh;
        });
      });
    },

    async regenerateApiKey(caller) {
      const { email } = demandUser(caller, 'api_key.regenerate', ONLY_USERS);
      return act(caller, 'api_key.regenerate', { email }, { target: `user:${email}` }, async () => {
        const fresh = newKey(email);
        await store.transact((tx) => tx.putApiKey(fresh));
        callers.clear();
        return fresh;
      });
    },
  };
}
