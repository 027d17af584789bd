/** On SQLite; on PostgreSQL: sql-store-postgres.long.test.ts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyOfEmpty } from '../../../../test/support/empty-databases.ts';
import { storeConformance } from '../conformance.ts';
import { storeUnderTest } from './sql-store-world.ts';

storeConformance('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-store-'));
  return storeUnderTest({ kind: 'sqlite', file: await copyOfEmpty('tancho.db', folder) }, () =>
    rm(folder, { recursive: true }),
  );
});
