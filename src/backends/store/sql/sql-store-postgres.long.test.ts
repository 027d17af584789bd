import pg from 'pg';
import { afterAll, describe } from 'vitest';
import { createTestDatabase } from '../../../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../../../test/support/skips.ts';
import { storeConformance } from '../conformance.ts';
import { storeUnderTest } from './sql-store-world.ts';

/** Much faster than to drop and create them. */
async function empty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'migrations%'
     order by tablename in ('users', 'teams'), tablename = 'services'`,
  );
  await client.query(rows.map(({ name }) => `delete from "${name}";`).join(''));
}

const database = await createTestDatabase();
describe('on PostgreSQL', skipFor(database === null && NO_POSTGRES), () => {
  const url = database?.url ?? '';
  const client = new pg.Client({ connectionString: url });
  let connected: Promise<unknown> | null = null;
  afterAll(async () => {
    await client.end();
    await database?.dispose();
  });
  storeConformance('postgres', async () => {
    await (connected ??= client.connect());
    await empty(client);
    return storeUnderTest({ kind: 'postgres', url }, async () => {});
  });
});
