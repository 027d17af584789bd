import pg from 'pg';
import { afterAll, describe } from 'vitest';
import { createTestDatabase } from '../../../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../../../test/support/skips.ts';
import { logStoreConformance } from '../conformance.ts';
import { logStoreUnderTest } from './sql-log-store-world.ts';

const database = await createTestDatabase();
describe('on PostgreSQL', skipFor(database === null && NO_POSTGRES), () => {
  const url = database?.url ?? '';
  const client = new pg.Client({ connectionString: url });
  let connected: Promise<unknown> | null = null;
  afterAll(async () => {
    await client.end();
    await database?.dispose();
  });
  logStoreConformance('postgres', async () => {
    await (connected ??= client.connect());
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    return logStoreUnderTest({ kind: 'postgres', url }, async () => {});
  });
});
