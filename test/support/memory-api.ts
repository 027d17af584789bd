/** The API server over users and teams as they are and everything else in memory, on a free port. */
import { demand } from '../../src/domain/access.ts';
import type { Act } from '../../src/domain/act.ts';
import { createAppTokens } from '../../src/domain/app-tokens/app-tokens.ts';
import { reserveApp, UNLIMITED } from '../../src/domain/quotas/quota.ts';
import { createQuotas } from '../../src/domain/quotas/quotas.ts';
import { createTeams } from '../../src/domain/teams/teams.ts';
import { CallerCache } from '../../src/domain/users/caller-cache.ts';
import { ensureFirstAdmin } from '../../src/domain/users/first-admin.ts';
import type { Mail, Mailer } from '../../src/domain/users/mailer.ts';
import { createUsers } from '../../src/domain/users/users.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../../src/api/server.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { createMemoryAccounts } from './memory-accounts.ts';
import { createMemoryAppRecords } from './memory-app-records.ts';
import { createMemoryHealers } from './memory-healers.ts';
import { createMemoryServices } from './memory-services.ts';
import { createMemoryPlatform } from './memory-platform.ts';

export const ADMIN = { email: 'admin@example.com', password: 'correct horse' };

/** Judges access like the real one; keeps no events. */
const act: Act = async (caller, action, subject, _options, work) => {
  demand(caller, action, subject);
  return work();
};

export interface MemoryApi {
  readonly baseUrl: string;
  readonly server: ApiServer;
  readonly platform: ReturnType<typeof createMemoryPlatform>;
  /** What was mailed, oldest first. */
  readonly letters: readonly Mail[];
}

export type Registration = boolean | 'from-here';

export function memoryUseCases(now: () => Date, registration: Registration = true) {
  const platform = createMemoryPlatform();
  const apps = createMemoryAppRecords(platform);
  const store = createMemoryAccounts(platform.records, apps);
  const limited = { ...apps, user: store.user };
  platform.reserve = (owner) => reserveApp(limited, owner, UNLIMITED);
  const letters: Mail[] = [];
  const mailer: Mailer = { description: 'memory', send: async (mail) => void letters.push(mail) };
  const deps = { store, act, now, callers: new CallerCache(now) };
  const useCases = {
    ...platform,
    users: createUsers({
      ...deps,
      mailer,
      registrationOpen: registration !== false,
      registrationFromHereOnly: registration === 'from-here',
      sessionDays: 7,
    }),
    teams: createTeams(deps),
    quotas: createQuotas({ store: limited, act, defaults: UNLIMITED }),
    appTokens: createAppTokens({ store: apps, act, now }),
    healers: createMemoryHealers(),
    ...createMemoryServices({
      act,
      now,
      accounts: store,
      apps: platform.records,
      putEnv: (app, vars) => platform.putEnv(app, vars),
    }).useCases,
  };
  return { platform, store, letters, useCases };
}

export async function startMemoryApi(
  options: Partial<ApiServerOptions> & { registrationOpen?: Registration } = {},
): Promise<MemoryApi> {
  const now = (): Date => new Date();
  const { platform, store, letters, useCases } = memoryUseCases(now, options.registrationOpen ?? true);
  await ensureFirstAdmin({ store, now }, ADMIN);
  const server = await createApiServer({
    useCases,
    listen: { host: '127.0.0.1', port: 0 },
    socketPath: null,
    version: '1.2.3',
    logger: SILENT,
    ready: async () => {},
    ...options,
  });
  return { baseUrl: `http://127.0.0.1:${server.address.port}`, server, platform, letters };
}
