import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe } from 'vitest';
import { createTestDatabase } from '../../../../test/support/postgres.ts';
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { SILENT } from '../../../lib/logger.ts';
import { logStoreConformance } from '../conformance.ts';
import type { LogStoreUnderTest } from '../testing/case.ts';
import { createSqlLogStore } from './index.ts';
import type { SqlLogStoreOptions } from './index.ts';

async function underTest(options: SqlLogStoreOptions, clean: () => Promise<void>): Promise<LogStoreUnderTest> {
  const open: LogStore[] = [];
  const again = async (): Promise<LogStore> => {
    const store = await createSqlLogStore(options, { logger: SILENT });
    open.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of open) await store.close();
    await clean();
  };
  return { store: await again(), again, dispose };
}

logStoreConformance('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-logs-'));
  return underTest({ kind: 'sqlite', file: join(folder, 'logs.db') }, () => rm(folder, { recursive: true }));
});

const database = await createTestDatabase();
describe.skipIf(database === null)('on PostgreSQL', () => {
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
    return underTest({ kind: 'postgres', url }, async () => {});
  });
});
