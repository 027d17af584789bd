/** The commands that provide services of real servers. */
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { CliWorld } from '../../../test/support/cli-world.ts';
import { createTestDatabase } from '../../../test/support/postgres.ts';
import { startRedis } from '../../../test/support/redis.ts';
import { NO_POSTGRES, NO_REDIS, skipFor } from '../../../test/support/skips.ts';
import { checkedProvider, servedDuring } from './provider-world.ts';

const database = await createTestDatabase();
const redis = await startRedis();
afterAll(async () => {
  await database?.dispose();
  await redis?.dispose();
});

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.dispose());

const checked = (out: string): Promise<void> => checkedProvider(world, out);

it('postgres', skipFor(database === null && NO_POSTGRES), async () => {
  const env = { TANCHO_PROVIDER_URL: database?.url ?? '' };
  const { code, err } = await servedDuring(world, ['postgres', '--name', 'pg-cli'], checked, env);
  expect(code).toBe(0);
  expect(err).toMatch(/^Warning: Every role of the server.* may connect to: .*postgres/m);
  expect(err).toMatch(/^POST \/resources 201 \d+ ms$/m);
  expect(err).not.toContain(new URL(database?.url ?? '').password);
});

it('redis', skipFor(redis === null && NO_REDIS), async () => {
  const { code, err } = await servedDuring(world, ['redis', '--url', redis?.url ?? ''], checked);
  expect(code).toBe(0);
  expect(err).toMatch(/^Warning: the password in --url can be read by everybody/m);
  expect(err).toMatch(/^Warning: Redis has no aclfile/m);
});
