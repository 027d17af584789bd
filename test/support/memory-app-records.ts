/** App tokens and limits in memory, beside the memory apps they belong to. */
import type { AppToken } from '../../src/domain/app-tokens/app-token.ts';
import type { AppTokenReader, AppTokenWriter } from '../../src/domain/app-tokens/app-token-store.ts';
import type { AppReader, AppWriter } from '../../src/domain/apps/app-store.ts';
import type { Limit } from '../../src/domain/quotas/limit.ts';
import type { QuotaReader, QuotaWriter } from '../../src/domain/quotas/quota-store.ts';
import type { createMemoryPlatform } from './memory-platform.ts';

type Records = AppTokenReader &
  AppTokenWriter &
  QuotaReader &
  QuotaWriter &
  Pick<AppReader, 'app' | 'units'> &
  Pick<AppWriter, 'setEnv'>;

export function createMemoryAppRecords(
  platform: ReturnType<typeof createMemoryPlatform>,
): Records & { transact<T>(work: (tx: Records) => Promise<T>): Promise<T> } {
  const tokens = new Map<string, AppToken>();
  const userLimits = new Map<string, Limit>();
  const appLimits = new Map<string, Limit>();

  function forget(isGone: (token: AppToken) => boolean): number {
    const gone = [...tokens.values()].filter(isGone);
    for (const token of gone) tokens.delete(token.tokenHash);
    return gone.length;
  }

  const records: Records = {
    app: async (name) => platform.records.get(name) ?? null,
    units: async (name) => [...(platform.units.get(name) ?? [])],
    setEnv: async (name, variables) => platform.putEnv(name, variables),
    async appToken(hash, now) {
      forget((token) => !platform.records.has(token.app));
      const token = tokens.get(hash);
      return token === undefined || token.expiresAt <= now ? null : token;
    },
    appTokens: async (app) => [...tokens.values()].filter((token) => token.app === app).reverse(),
    deleteAppToken: async (hash) => tokens.delete(hash),
    insertAppToken: async (token) => void tokens.set(token.tokenHash, token),
    deleteAppTokens: async (app) => forget((token) => token.app === app),
    deleteExpiredAppTokens: async (now) => forget((token) => token.expiresAt <= now),
    userLimit: async (email) => userLimits.get(email),
    appLimit: async (app) => appLimits.get(app),
    appsOwned: async (email) => [...platform.records.values()].filter((app) => app.owner === email).length,
    setUserLimit: async (email, limit) => void userLimits.set(email, limit),
    setAppLimit: async (app, limit) => void appLimits.set(app, limit),
  };
  return { ...records, transact: (work) => work(records) };
}
