/** Every schema that a database may be found in becomes the newest one, and no row is lost on the way. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backupSetOf, listBackupSets } from '../../../../lib/backup-sets.ts';
import { SILENT } from '../../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../../lib/seal.ts';
import { openDatabase } from '../../../../sql/database.ts';
import { migrate, type MigrationSet } from '../../../../sql/migrate.ts';
import { migrations as logMigrations } from '../../../log-store/sql/migrations/index.ts';
import { createSqlStore } from '../index.ts';
import { migrations } from './index.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Migrates a file up to, and with, the migration of this number. */
async function migrateTo(file: string, set: MigrationSet, count: number): Promise<void> {
  const names = Object.keys(set.migrations).sort().slice(0, count);
  const some = Object.fromEntries(names.map((name) => [name, set.migrations[name] ?? {}]));
  const database = await openDatabase({ kind: 'sqlite', file, synchronous: 'NORMAL' }, SILENT);
  try {
    await migrate(database, { ...set, migrations: some as MigrationSet['migrations'] });
  } finally {
    await database.close();
  }
}

function using<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** What was kept in one table is kept in another one. */
const MOVED: Readonly<Record<string, string>> = { log_entries: 'log_blocks', log_offsets: 'log_cursors' };
const OWN = /^(?:sqlite_|migrations|log_migrations|.*_lock$)/;

function tables(database: DatabaseSync): string[] {
  const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  return rows.map((row) => String(row['name'])).filter((name) => !OWN.test(name));
}

/** Text of JSON where the name or the default says so, for migrations that look into it. */
function valueFor(column: Record<string, unknown>): string | number {
  const [name, type] = [String(column['name']), String(column['type']).toLowerCase()];
  if (/int|real|num/.test(type)) return 1;
  return typeof column['dflt_value'] === 'string' && /^'[[{]/.test(column['dflt_value'])
    ? column['dflt_value'].slice(1, -1)
    : `the ${name}`;
}

/** One row in every empty table, whatever the rules between tables say. */
function fill(database: DatabaseSync): void {
  database.exec('PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON');
  for (const table of tables(database)) {
    if (Number(database.prepare(`SELECT count(*) AS n FROM "${table}"`).all()[0]?.['n']) > 0) continue;
    const columns = database
      .prepare(`PRAGMA table_info("${table}")`)
      .all()
      .filter((column) => column['notnull'] === 1 || column['pk'] !== 0);
    const names = columns.map((column) => `"${String(column['name'])}"`).join(', ');
    const marks = columns.map(() => '?').join(', ');
    const insert = names === '' ? `"${table}" DEFAULT VALUES` : `"${table}" (${names}) VALUES (${marks})`;
    database.prepare(`INSERT INTO ${insert}`).run(...columns.map(valueFor));
  }
}

function counts(database: DatabaseSync): Record<string, number> {
  const count = (table: string): number =>
    Number(database.prepare(`SELECT count(*) AS n FROM "${table}"`).all()[0]?.['n']);
  return Object.fromEntries(tables(database).map((table) => [table, count(table)]));
}

function shape(database: DatabaseSync): unknown {
  const indexes = database
    .prepare("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
    .all();
  const columns = tables(database).map((table) => [table, database.prepare(`PRAGMA table_info("${table}")`).all()]);
  return JSON.parse(JSON.stringify({ indexes, columns })) as unknown;
}

const SETS: [string, MigrationSet][] = [
  ['tancho.db', migrations('sqlite')],
  ['logs.db', logMigrations('sqlite')],
];

describe.each(SETS)('%s', (name, set) => {
  const all = Object.keys(set.migrations).length;
  const states = Array.from({ length: all }, (_, index) => index + 1);

  it.each(states)('with rows at migration %s becomes the newest and keeps them', async (state) => {
    const [file, fresh] = [join(folder, `${state}-${name}`), join(folder, `${state}-fresh-${name}`)];
    await migrateTo(file, set, state);
    const before = using(file, (database) => (fill(database), counts(database)));
    expect(Object.keys(before).length).toBeGreaterThan(0);
    await migrateTo(file, set, all);
    await migrateTo(fresh, set, all);
    const after = using(file, counts);
    for (const [table, count] of Object.entries(before))
      expect([table, after[MOVED[table] ?? table]]).toEqual([table, count]);
    expect(using(file, shape)).toEqual(using(fresh, shape));
  });

  it('with rows is migrated step by step, each of which adds its own', async () => {
    const file = join(folder, `steps-${name}`);
    for (const state of states) {
      await migrateTo(file, set, state);
      using(file, fill);
    }
    for (const [table, count] of Object.entries(using(file, counts)))
      expect([table, count >= 1]).toEqual([table, true]);
  });
});

it('a copy is made before a schema changes, and only then', async () => {
  const home = await mkdtemp(join(folder, 'home-'));
  const file = join(home, 'tancho.db');
  const open = async (): Promise<void> => {
    const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };
    await (await createSqlStore({ kind: 'sqlite', file, backups: backupSetOf(home, new Date()) }, deps)).close();
  };
  await open();
  expect(await listBackupSets(home)).toEqual([]);
  await rm(file);
  await migrateTo(file, migrations('sqlite'), 1);
  const old = using(file, shape);
  await open();
  const [set, ...more] = await listBackupSets(home);
  expect(more).toEqual([]);
  expect(set?.files).toEqual(['tancho.db']);
  expect(using(join(home, 'backups', set?.name ?? '', 'tancho.db'), shape)).toEqual(old);
  expect(using(file, shape)).not.toEqual(old);
});
