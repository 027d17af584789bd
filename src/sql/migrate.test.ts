/** Two versions of a program on one database: which may go on, and which is refused. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, type Migration, sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../test/support/skips.ts';
import { SILENT } from '../lib/logger.ts';
import { openDatabase } from './database.ts';
import type { DatabaseOptions } from './database.ts';
import { migrate, type MigrationSet } from './migrate.ts';

const adding = (statement: string): Migration => ({
  async up(db: Kysely<unknown>) {
    await sql.raw(statement).execute(db);
  },
});
const FIRST = { '0001_first': adding('create table things (name text not null primary key)') };
const SECOND = { ...FIRST, '0002_second': adding("alter table things add column color text not null default ''") };
const THIRD = { ...SECOND, '0003_third': adding('create table others (name text not null primary key)') };

const version = (table: string, migrations: MigrationSet['migrations'], readableFrom?: string): MigrationSet => ({
  table,
  migrations,
  ...(readableFrom !== undefined && { readableFrom }),
});

const folder = await mkdtemp(join(tmpdir(), 'tancho-versions-'));
const postgres = await createTestDatabase();
afterAll(async () => {
  await postgres?.dispose();
  await rm(folder, { recursive: true });
});

const KINDS: [string, () => DatabaseOptions | null][] = [
  ['SQLite', () => ({ kind: 'sqlite', file: join(folder, 'versions.db'), synchronous: 'NORMAL' })],
  ['PostgreSQL', () => (postgres === null ? null : { kind: 'postgres', url: postgres.url, poolSize: 4 })],
];

describe.each(KINDS)('on %s', (name, optionsOf) => {
  const options = optionsOf();

  it(
    'an older program works beside one that only adds, and one that is too old does not',
    skipFor(options === null && NO_POSTGRES),
    async () => {
      if (options === null) return;
      const database = await openDatabase<{ things: { name: string; color?: string } }>(options, SILENT);
      try {
        const table = `migrations_${name.toLowerCase()}`;
        await migrate(database, version(table, FIRST));
        await migrate(database, version(table, SECOND, '0001_first'));
        // The older one is started again, and writes.
        await migrate(database, version(table, FIRST));
        await database.db.insertInto('things').values({ name: 'old' }).execute();
        expect(await database.db.selectFrom('things').selectAll().execute()).toMatchObject([
          { name: 'old', color: '' },
        ]);
        await migrate(database, version(table, THIRD, '0002_second'));
        await migrate(database, version(table, SECOND, '0001_first'));
        await expect(migrate(database, version(table, FIRST))).rejects.toThrow(
          /newer version of Tancho \(schema 0003_third, this one knows up to 0001_first\)/,
        );
      } finally {
        await database.close();
      }
    },
  );

  it(
    'who can read a schema is recorded before it is made: whoever is killed then shuts no older program out',
    skipFor(options === null && NO_POSTGRES),
    async () => {
      if (options === null) return;
      const database = await openDatabase<unknown>(options, SILENT);
      try {
        const table = `migrations_killed_${name.toLowerCase()}`;
        const recorded: unknown[] = [];
        const look = async (db: Kysely<unknown>): Promise<void> => {
          const { rows } = await sql`select readable_from, newest from ${sql.table(`${table}_readers`)}`.execute(db);
          recorded.push(...rows);
        };
        await migrate(database, version(table, { '0001_look': { up: look } }, '0000_older'));
        expect(recorded).toEqual([{ readable_from: '0000_older', newest: '0001_look' }]);
      } finally {
        await database.close();
      }
    },
  );

  it(
    'an older program does not work beside one that has not said so',
    skipFor(options === null && NO_POSTGRES),
    async () => {
      if (options === null) return;
      const database = await openDatabase<{ things: { name: string } }>(options, SILENT);
      try {
        const table = `migrations_silent_${name.toLowerCase()}`;
        await sql.raw('drop table things').execute(database.db);
        await sql.raw('drop table others').execute(database.db);
        await migrate(database, version(table, SECOND));
        await expect(migrate(database, version(table, FIRST))).rejects.toThrow(/newer version of Tancho/);
      } finally {
        await database.close();
      }
    },
  );
});
