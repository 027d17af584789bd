import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyOfEmpty } from '../../../../test/support/empty-databases.ts';
import { SILENT } from '../../../lib/logger.ts';
import { bounds, entry } from '../testing/case.ts';
import { createSqlLogStore } from './index.ts';

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-seal-'));
  file = await copyOfEmpty('logs.db', folder);
});
afterEach(() => rm(folder, { recursive: true }));

const EMPTY = Array.from({ length: 1_000 }, () => entry(''));

function inFile<T>(work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const sums = () =>
  inFile((database) => [
    database.prepare('select bytes, stored from log_apps').get(),
    database.prepare('select sum(bytes) as bytes, sum(stored) as stored from log_blocks').get(),
  ]);

it('empty lines count toward the size from which on blocks are sealed', async () => {
  const store = await createSqlLogStore({ kind: 'sqlite', file }, { logger: SILENT });
  await store.append(EMPTY);
  await store.close();
  const { open_bytes } = inFile((database) => database.prepare('select open_bytes from log_apps').get()) ?? {};
  expect(open_bytes).toBe(EMPTY.length);
});

it('what an earlier version has left open, which counted nothing of empty lines, does not become one block', async () => {
  const store = await createSqlLogStore({ kind: 'sqlite', file }, { logger: SILENT });
  for (let batch = 0; batch < 9; batch++) await store.append(EMPTY);
  inFile((database) => {
    // As if each were a read of 128 KiB.
    database.exec('update log_blocks set bytes = 0, entries = 131072');
    database.exec('update log_apps set bytes = 0, open_bytes = 0, open_blocks = 399');
  });
  await store.append([entry('last')]);
  const sealed = inFile((database) => database.prepare('select entries, is_sealed from log_blocks').all());
  expect(sealed).toEqual([
    { entries: 4_000, is_sealed: 1 },
    { entries: 4_000, is_sealed: 1 },
    { entries: 1_001, is_sealed: 1 },
  ]);
  expect(sums()[0]).toEqual(sums()[1]);
  await store.prune(bounds({ bytesPerApp: 500 }));
  expect(sums()[0]).toEqual(sums()[1]);
  expect(await store.query({ app: 'shop', lines: 1 })).toMatchObject([{ message: 'last' }]);
  await store.close();
});
