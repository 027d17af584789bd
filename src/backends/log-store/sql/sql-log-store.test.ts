/** On SQLite; on PostgreSQL: sql-log-store-postgres.long.test.ts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyOfEmpty } from '../../../../test/support/empty-databases.ts';
import { logStoreConformance } from '../conformance.ts';
import { logStoreUnderTest } from './sql-log-store-world.ts';

logStoreConformance('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-logs-'));
  return logStoreUnderTest({ kind: 'sqlite', file: await copyOfEmpty('logs.db', folder) }, () =>
    rm(folder, { recursive: true }),
  );
});
