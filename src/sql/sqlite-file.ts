/**
 * Opens a SQLite file of ours: marks it, refuses those of others, sets the pragmas. Knows nothing of Kysely, tables or transactions.
 */
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { BLOCKING_WAIT_MS, patiently } from './patiently.ts';
import { DatabaseRefused, sqlFault } from './sql-error.ts';

export interface SqliteFileOptions {
  readonly file: string;
  /** FULL survives a loss of power, NORMAL a crash of the process. */
  readonly synchronous: 'FULL' | 'NORMAL';
}

/** "TANC": marks the files that are ours. */
const APPLICATION_ID = 0x54414e43;
/** What a large transaction may leave of its write-ahead log on disk. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;
const CONNECTION_PRAGMAS = [`busy_timeout = ${BLOCKING_WAIT_MS}`, 'temp_store = MEMORY'];

export async function openSqliteFile(options: SqliteFileOptions): Promise<DatabaseSync> {
  await createPrivately(options.file);
  const database = new DatabaseSync(options.file);
  try {
    for (const pragma of CONNECTION_PRAGMAS) database.exec(`PRAGMA ${pragma}`);
    await patiently(() => checkOwnership(database, options.file));
    await patiently(() => enterWal(database, options.file));
    database.exec(`PRAGMA synchronous = ${options.synchronous}`);
    database.exec('PRAGMA foreign_keys = ON');
    database.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
    return database;
  } catch (error) {
    closeAfter(error, database);
    throw error;
  }
}

export interface SqliteConnections {
  readonly writer: DatabaseSync;
  /** Sees what is committed, and can change nothing. */
  readonly reader: DatabaseSync;
}

/** As openSqliteFile(). */
export async function openSqliteConnections(options: SqliteFileOptions): Promise<SqliteConnections> {
  const writer = await openSqliteFile(options);
  try {
    const reader = new DatabaseSync(options.file);
    for (const pragma of [...CONNECTION_PRAGMAS, 'query_only = ON']) reader.exec(`PRAGMA ${pragma}`);
    return { writer, reader };
  } catch (error) {
    closeAfter(error, writer);
    throw error;
  }
}

/** What is wrong with the file may well disturb the closing too; the first error is the one to report. */
function closeAfter(error: unknown, database: DatabaseSync): void {
  try {
    database.close();
  } catch (closing) {
    if (error instanceof Error) error.cause ??= closing;
  }
}

/** SQLite gives its -wal and -shm files the mode of the database, so it is enough to create that one private. */
async function createPrivately(file: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await (await open(file, 'a', 0o600)).close();
  } catch (error) {
    throw new DatabaseRefused(`The database file ${file} cannot be opened: ${(error as Error).message}.`, error);
  }
}

function checkOwnership(database: DatabaseSync, file: string): void {
  let id: number;
  let tables: number;
  try {
    id = pragmaNumber(database, 'application_id');
    tables = Number(database.prepare('SELECT count(*) AS n FROM sqlite_master').all()[0]?.['n'] ?? 0);
  } catch (error) {
    if (sqlFault(error) === 'unreachable') throw error;
    throw new DatabaseRefused(`${file} is not a SQLite database, or it is damaged; restore it from a backup.`, error);
  }
  if (id === APPLICATION_ID) return;
  if (id !== 0 || tables > 0) {
    throw new DatabaseRefused(`${file} is a SQLite database of another program; move it away or choose another home.`);
  }
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

function enterWal(database: DatabaseSync, file: string): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').all()[0]?.['journal_mode'];
  if (mode === 'wal') return;
  throw new DatabaseRefused(`The file system of ${file} cannot hold a SQLite write-ahead log; use a local disk.`);
}

function pragmaNumber(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).all()[0]?.[name] ?? 0);
}
