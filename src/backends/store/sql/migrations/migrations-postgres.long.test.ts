/** The same for PostgreSQL: every schema that a database may be found in becomes the newest one, and no row is lost on the way. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../../../../test/support/skips.ts';
import { SILENT } from '../../../../lib/logger.ts';
import { openDatabase } from '../../../../sql/database.ts';
import { migrate, type MigrationSet } from '../../../../sql/migrate.ts';
import { migrations as logMigrations } from '../../../log-store/sql/migrations/index.ts';
import { migrations } from './index.ts';

/** What was kept in one table is kept in another one. */
const MOVED: Readonly<Record<string, string>> = { log_entries: 'log_blocks', log_offsets: 'log_cursors' };
const OWN = /^(?:migrations|log_migrations|.*_lock|.*_readers)$/;
const SETS: [string, MigrationSet][] = [
  ['what is stored', migrations('postgres')],
  ['logs', logMigrations('postgres')],
];

/** Keeps the server of the tests up between databases. */
const first = await createTestDatabase();
afterAll(() => first?.dispose());

async function using<T>({ url }: TestDatabase, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function migrateTo({ url }: TestDatabase, set: MigrationSet, count: number): Promise<void> {
  const names = Object.keys(set.migrations).sort().slice(0, count);
  const some = Object.fromEntries(names.map((name) => [name, set.migrations[name] ?? {}]));
  const database = await openDatabase({ kind: 'postgres', url, poolSize: 2 }, SILENT);
  try {
    await migrate(database, { ...set, migrations: some as MigrationSet['migrations'] });
  } finally {
    await database.close();
  }
}

async function rowsOf(client: pg.Client, text: string): Promise<Record<string, string>[]> {
  return (await client.query<Record<string, string>>(text)).rows;
}

async function tables(client: pg.Client): Promise<string[]> {
  const rows = await rowsOf(client, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  return rows.map(({ name = '' }) => name).filter((name) => !OWN.test(name));
}

/** Text of JSON where the default says so, for migrations that look into it. */
function valueFor({ name = '', type = '', preset }: Record<string, string | null>): string | number | boolean | Buffer {
  if (/int|double|numeric/.test(type ?? '')) return 1;
  if (type === 'boolean') return true;
  if (type === 'bytea') return Buffer.from('x');
  return /^'([[{].*)'::/.exec(preset ?? '')?.[1] ?? `the ${name}`;
}

/** One row in every table, whatever the rules between tables say; answers those in which a rule of their own allows none like it. */
async function fill(client: pg.Client): Promise<string[]> {
  await client.query('SET session_replication_role = replica');
  const left: string[] = [];
  for (const table of await tables(client)) {
    const columns = await rowsOf(
      client,
      `SELECT column_name AS name, data_type AS type, column_default AS preset FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = '${table}' AND is_nullable = 'NO' AND is_identity = 'NO'`,
    );
    const names = columns.map(({ name }) => `"${name}"`).join(', ');
    const marks = columns.map((_, index) => `$${index + 1}`).join(', ');
    await client
      .query(`INSERT INTO "${table}" (${names}) VALUES (${marks})`, columns.map(valueFor))
      .catch((error: { code?: string }) => {
        if (error.code !== '23514') throw error;
        left.push(table);
      });
  }
  return left;
}

async function counts(client: pg.Client): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const table of await tables(client)) {
    found[table] = Number((await rowsOf(client, `SELECT count(*) AS n FROM "${table}"`))[0]?.['n']);
  }
  return found;
}

/** Columns in whatever order: one that is added stands last. */
async function shape(client: pg.Client): Promise<unknown> {
  const columns = await rowsOf(
    client,
    `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
     WHERE table_schema = 'public' ORDER BY 1, 2`,
  );
  const rules = await rowsOf(
    client,
    `SELECT conrelid::regclass::text AS of, pg_get_constraintdef(oid) AS rule FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
  );
  const indexes = await rowsOf(client, "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1");
  return { columns, rules, indexes };
}

describe.each(SETS)('%s', skipFor(first === null && NO_POSTGRES), (_, set) => {
  const all = Object.keys(set.migrations).length;
  const states = Array.from({ length: all }, (_each, index) => index + 1);
  let fresh: unknown;

  async function inDatabase<T>(work: (database: TestDatabase) => Promise<T>): Promise<T> {
    const database = await createTestDatabase();
    if (database === null) throw new Error('The server of the tests is gone.');
    try {
      return await work(database);
    } finally {
      await database.dispose();
    }
  }

  beforeAll(async () => {
    fresh = await inDatabase(async (database) => {
      await migrateTo(database, set, all);
      return using(database, shape);
    });
  });

  it.each(states)('at migration %s becomes the newest with the rows it had', (state) =>
    inDatabase(async (database) => {
      await migrateTo(database, set, state);
      const [left, before] = await using(
        database,
        async (client) => [await fill(client), await counts(client)] as const,
      );
      expect(left.length * 5, `no row in ${left.join(', ')}`).toBeLessThanOrEqual(Object.keys(before).length);
      await migrateTo(database, set, all);
      const after = await using(database, counts);
      for (const [table, count] of Object.entries(before))
        expect([table, after[MOVED[table] ?? table]]).toEqual([table, count]);
      expect(await using(database, shape)).toEqual(fresh);
    }),
  );
});
