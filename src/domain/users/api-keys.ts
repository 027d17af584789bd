/** Use cases of API keys (specification 4.7 and 5): one lasting token per user, which can be shown again. */
import { randomHex } from '../../lib/ids.ts';
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import type { Caller, UserCaller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';
import type { CallerCache } from './caller-cache.ts';
import { hashToken, TOKEN_DIGITS } from './sessions.ts';
import type { ApiKey } from './user.ts';

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
      const { email } = userOf(caller, 'api_key.show');
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
      const { email } = userOf(caller, 'api_key.regenerate');
      return act(caller, 'api_key.regenerate', { email }, { target: `user:${email}` }, async () => {
        const fresh = newKey(email);
        await store.transact((tx) => tx.putApiKey(fresh));
        callers.clear();
        return fresh;
      });
    },
  };
}

/** The caller as a user; the platform itself is refused too, for it has no account. */
function userOf(caller: Caller, action: 'api_key.show' | 'api_key.regenerate'): UserCaller {
  demand(caller, action);
  if (caller.kind === 'user') return caller;
  throw new PlatformError('access.denied', 'Only a user has an API key.', { hint: 'Log in as a user.' });
}
