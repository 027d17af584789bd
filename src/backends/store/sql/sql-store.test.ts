import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe } from 'vitest';
import { createTestDatabase } from '../../../../test/support/postgres.ts';
import type { Store } from '../../../domain/store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../lib/seal.ts';
import { storeConformance } from '../conformance.ts';
import type { StoreUnderTest } from '../testing/case.ts';
import { createSqlStore } from './index.ts';
import type { SqlStoreOptions } from './index.ts';

const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };

async function underTest(options: SqlStoreOptions, clean: () => Promise<void>): Promise<StoreUnderTest> {
  const open: Store[] = [];
  const again = async (): Promise<Store> => {
    const store = await createSqlStore(options, deps);
    open.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of open) await store.close();
    await clean();
  };
  return { store: await again(), again, dispose };
}

storeConformance('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-store-'));
  return underTest({ kind: 'sqlite', file: join(folder, 'tancho.db') }, () => rm(folder, { recursive: true }));
});

/** Much faster than to drop and create them. */
async function empty(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename not like 'migrations%'
     order by tablename in ('users', 'teams'), tablename = 'services'`,
  );
  await client.query(rows.map(({ name }) => `delete from "${name}";`).join(''));
}

const database = await createTestDatabase();
describe.skipIf(database === null)('on PostgreSQL', () => {
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
    return underTest({ kind: 'postgres', url }, async () => {});
  });
});
