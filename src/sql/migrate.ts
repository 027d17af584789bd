/** Brings a database to the newest schema, once, whoever else is trying; refuses one that a newer program made. */
import { Migrator, sql } from 'kysely';
import type { Kysely, Migration } from 'kysely';
import type { Database } from './database.ts';
import { DatabaseRefused, sqlFault } from './sql-error.ts';

export interface MigrationSet {
  /** Table that remembers what was done; one per schema in a database. */
  readonly table: string;
  /** By name, `0001_...`; immutable once released. */
  readonly migrations: Readonly<Record<string, Migration>>;
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
  refuseNewer(database.where, known, done);
  // The Migrator inspects the whole catalogue each time; a start with nothing to do must not pay for that.
  if (done.length === known.length) return;
  if (done.length > 0) await beforeChange();
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...set.migrations }) },
    migrationTableName: set.table,
    migrationLockTableName: `${set.table}_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  refuseNewer(database.where, known, await doneMigrations(db, set.table));
  throw error;
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

function refuseNewer(where: string, known: readonly string[], done: readonly string[]): void {
  const unknown = done.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new DatabaseRefused(
    `The database ${where} was made by a newer version of Tancho (schema ${unknown.at(-1)}, this one knows up to ` +
      `${known.at(-1)}); start that version, or restore a backup made by this one.`,
  );
}
