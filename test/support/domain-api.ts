/** The API over the real use cases and the real store, with units, routes and builds in memory. */
import { createApiServer } from '../../src/api/server.ts';
import { createAppTokens } from '../../src/domain/app-tokens/app-tokens.ts';
import { createPlatforms } from '../../src/domain/platforms/platforms.ts';
import { UNLIMITED } from '../../src/domain/quotas/quota.ts';
import { createQuotas } from '../../src/domain/quotas/quotas.ts';
import { createTeams } from '../../src/domain/teams/teams.ts';
import { CallerCache } from '../../src/domain/users/caller-cache.ts';
import { ensureFirstAdmin } from '../../src/domain/users/first-admin.ts';
import type { Mail, Mailer } from '../../src/domain/users/mailer.ts';
import { createUsers } from '../../src/domain/users/users.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { type DomainWorld, startDomain } from './domain-world.ts';
import type { Recipe } from './memory-builds.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { ADMIN } from './memory-api.ts';

export interface DomainApi {
  readonly baseUrl: string;
  readonly world: DomainWorld;
  /** What was mailed. */
  readonly letters: readonly Mail[];
  deploy(app: string, recipe?: Recipe): Promise<void>;
  dispose(): Promise<void>;
}

export async function startDomainApi(): Promise<DomainApi> {
  const world = await startDomain();
  const now = (): Date => new Date();
  const { store, builder, gitHost } = world.machine;
  const { act } = world.parts;
  const letters: Mail[] = [];
  const mailer: Mailer = { description: 'memory', send: async (mail) => void letters.push(mail) };
  const accounts = { store, act, now, callers: new CallerCache(now) };
  await ensureFirstAdmin({ store, now }, ADMIN);
  const server = await createApiServer({
    useCases: {
      ...world.useCases,
      platforms: createPlatforms({ store, builder, act, now }),
      users: createUsers({ ...accounts, mailer, registrationOpen: true, sessionDays: 7 }),
      teams: createTeams(accounts),
      quotas: createQuotas({ store, act, defaults: UNLIMITED }),
      appTokens: createAppTokens({ store, act, now }),
    },
    listen: { host: '127.0.0.1', port: 0 },
    socketPath: null,
    version: '1.2.3',
    logger: SILENT,
    ready: async () => {},
    stateVersion: () => store.version(),
  });
  return {
    baseUrl: `http://127.0.0.1:${server.address.port}`,
    world,
    letters,
    async deploy(app, recipe = {}) {
      const commit = randomHex(40);
      gitHost.commit(app, commit, recipe);
      const code = { source: gitHost.source(app, commit), commit, origin: 'git' as const };
      const signal = new AbortController().signal;
      await world.useCases.deploys.deploy({ kind: 'platform' }, app, code, () => {}, signal);
    },
    async dispose() {
      await server.close();
      await world.dispose();
    },
  };
}
