/**
 * Brings a database to the newest schema, once, whoever else is trying; refuses one that a newer program made, unless that has said that
 * this one can go on with it.
 */
import { Migrator, sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { Database } from './database.ts';
import { DatabaseRefused, sqlFault } from './sql-error.ts';

export interface MigrationSet {
  /** Table that remembers what was done; one per schema in a database. */
  readonly table: string;
  /** By name, `0001_...`; immutable once released. */
  readonly migrations: Readonly<Record<string, Migration>>;
  /**
   * A program whose newest migration is this one, or a later one, works beside this program on what the newest one leaves: all that came
   * since only adds, and what is written since it reads. Absent: only a program that knows the newest.
   */
  readonly readableFrom?: string;
}

/** `beforeChange` runs before a schema that holds something is changed; what it throws leaves all as it was. */
export async function migrate<Schema>(
  database: Database<Schema>,
  set: MigrationSet,
  beforeChange: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const db = database.db as unknown as Kysely<unknown>;
  const known = Object.keys(set.migrations).sort();
  const done = await doneMigrations(db, set.table);
  if (await isNewer(database, set, { known, done })) return;
  // The Migrator inspects the whole catalogue each time; a start with nothing to do must not pay for that.
  if (done.length === known.length) return;
  if (done.length > 0) await beforeChange();
  // Before it is true, so that it is never missing where it is: nobody asks for it until then.
  const record = (): Promise<void> => recordReaders(db, set, known.at(-1) ?? '');
  // When two create the same table on PostgreSQL at the same moment, one of them gets an error and tries again.
  await record().catch(record);
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...set.migrations }) },
    migrationTableName: set.table,
    migrationLockTableName: `${set.table}_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (await isNewer(database, set, { known, done: await doneMigrations(db, set.table) })) return;
  throw error;
}

/** Where it says from which program on it can be read. */
function readersOf({ table }: MigrationSet): string {
  return `${table}_readers`;
}

async function recordReaders(db: Kysely<unknown>, set: MigrationSet, newest: string): Promise<void> {
  const table = sql.table(readersOf(set));
  await db.transaction().execute(async (tx) => {
    await sql`create table if not exists ${table} (readable_from text not null, newest text not null primary key)`.execute(
      tx,
    );
    await sql`insert into ${table} (readable_from, newest) values (${set.readableFrom ?? newest}, ${newest})
      on conflict (newest) do nothing`.execute(tx);
  });
}

async function doneMigrations(db: Kysely<unknown>, table: string): Promise<string[]> {
  try {
    const { rows } = await sql<{ name: string }>`select name from ${sql.table(table)} order by name`.execute(db);
    return rows.map((row) => row.name);
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  }
}

function isMissingTable(error: unknown): boolean {
  if (!(error instanceof Error) || sqlFault(error) !== 'other') return false;
  return error.message.includes('no such table') || ('code' in error && error.code === '42P01');
}

interface Schemas {
  readonly known: readonly string[];
  readonly done: readonly string[];
}

/** True when a newer program has made it that works beside this one; throws when that does not. */
async function isNewer<Schema>(
  { db, where }: Database<Schema>,
  set: MigrationSet,
  { known, done }: Schemas,
): Promise<boolean> {
  const unknown = done.filter((name) => !known.includes(name));
  const newest = unknown.at(-1);
  if (newest === undefined) return false;
  const own = known.at(-1) ?? '';
  const table = sql.table(readersOf(set));
  const recorded = await sql<{ readable_from: string }>`select readable_from from ${table} where newest = ${newest}`
    .execute(db)
    .catch((error: unknown) => {
      if (isMissingTable(error)) return null;
      throw error;
    });
  const readableFrom = recorded?.rows[0]?.readable_from;
  if (readableFrom !== undefined && own >= readableFrom) return true;
  throw new DatabaseRefused(
    `The database ${where} was made by a newer version of Tancho (schema ${newest}, this one knows up to ` +
      `${own}); start that version, or restore a backup made by this one.`,
  );
}
