/** Everything that is asked of a provider holds for those of real servers. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../test/support/postgres.ts';
import { startRedis } from '../../../test/support/redis.ts';
import { NO_POSTGRES, NO_REDIS, skipFor } from '../../../test/support/skips.ts';
import type { ProviderHandlers } from '../contract.ts';
import { createPostgresProvider } from '../postgres/postgres.ts';
import { createRedisProvider } from '../redis/redis.ts';
import { serveProvider } from '../serve.ts';
import { checkProvider } from './check.ts';

const database = await createTestDatabase();
const redis = await startRedis();
afterAll(async () => {
  await database?.dispose();
  await redis?.dispose();
});

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const credentials = { username: 'service', password: 'a password' };

async function expectAll(handlers: ProviderHandlers): Promise<void> {
  const server = await serveProvider({ host: '127.0.0.1', port: 0, handlers, ...credentials });
  cleanups.push(() => server.stop());
  const report = await checkProvider({ url: server.url, credentials, timeoutMs: 5_000 });
  const wrong = report.checks.filter(({ result }) => result === 'fails' || result === 'skipped');
  expect(wrong.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([]);
  expect(report.holds).toBe(true);
}

describe('everything holds', () => {
  it('for PostgreSQL', skipFor(database === null && NO_POSTGRES), async () => {
    const provider = await createPostgresProvider({ url: database?.url ?? '', service: 'checked' });
    cleanups.push(() => provider.close());
    await expectAll(provider);
  });

  it('for Redis', skipFor(redis === null && NO_REDIS), async () => {
    const provider = await createRedisProvider({ url: redis?.url ?? '', service: 'checked' });
    cleanups.push(async () => provider.close());
    await expectAll(provider);
  });
});
