/**
 * The seam between the SQLite dialect and whichever SQLite this runtime has. Owns the choice of driver and the pragmas;
 * knows nothing of Kysely, tables or transactions.
 */
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openLibsql } from './libsql.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { BLOCKING_WAIT_MS, patiently } from './patiently.ts';
import { DatabaseRefused, sqlFault } from './sql-error.ts';
import type { SqliteDriverName, SqliteHandle } from './sqlite-handle.ts';

export interface SqliteFileOptions {
  readonly file: string;
  /** FULL survives a loss of power, NORMAL a crash of the process. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** Absent: node:sqlite when the runtime has it, else libsql. */
  readonly driver?: SqliteDriverName;
}

/** "TANC": marks the files that are ours. */
const APPLICATION_ID = 0x54414e43;
/** What a large transaction may leave of its write-ahead log on disk. */
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;

export function availableSqliteDrivers(): SqliteDriverName[] {
  return nodeSqlite() === null ? ['libsql'] : ['node:sqlite', 'libsql'];
}

export async function openSqliteFile(options: SqliteFileOptions): Promise<SqliteHandle> {
  await createPrivately(options.file);
  const handle = await openHandle(options);
  try {
    handle.exec(`PRAGMA busy_timeout = ${BLOCKING_WAIT_MS}`);
    await patiently(() => checkOwnership(handle, options.file));
    await patiently(() => enterWal(handle, options.file));
    handle.exec(`PRAGMA synchronous = ${options.synchronous}`);
    handle.exec('PRAGMA foreign_keys = ON');
    handle.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
    handle.exec('PRAGMA temp_store = MEMORY');
    return handle;
  } catch (error) {
    closeAfter(error, handle);
    throw error;
  }
}

/** What is wrong with the file may well disturb the closing too; the first error is the one that tells. */
function closeAfter(error: unknown, handle: SqliteHandle): void {
  try {
    handle.close();
  } catch (closing) {
    if (error instanceof Error) error.cause ??= closing;
  }
}

async function openHandle(options: SqliteFileOptions): Promise<SqliteHandle> {
  const builtIn = options.driver === 'libsql' ? null : nodeSqlite();
  if (builtIn !== null) return builtIn.open(options.file);
  if (options.driver === 'node:sqlite') throw new DatabaseRefused('This Node has no node:sqlite.');
  return openLibsql(options.file);
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

function checkOwnership(handle: SqliteHandle, file: string): void {
  let id: number;
  let tables: number;
  try {
    id = pragmaNumber(handle, 'application_id');
    tables = Number(handle.prepare('SELECT count(*) AS n FROM sqlite_master').all([])[0]?.['n'] ?? 0);
  } catch (error) {
    if (sqlFault(error) === 'unreachable') throw error;
    throw new DatabaseRefused(`${file} is not a SQLite database, or it is damaged; restore it from a backup.`, error);
  }
  if (id === APPLICATION_ID) return;
  if (id !== 0 || tables > 0) {
    throw new DatabaseRefused(`${file} is a SQLite database of another program; move it away or choose another home.`);
  }
  handle.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

function enterWal(handle: SqliteHandle, file: string): void {
  const mode = handle.prepare('PRAGMA journal_mode = WAL').all([])[0]?.['journal_mode'];
  if (mode === 'wal') return;
  throw new DatabaseRefused(`The file system of ${file} cannot hold a SQLite write-ahead log; use a local disk.`);
}

function pragmaNumber(handle: SqliteHandle, name: string): number {
  return Number(handle.prepare(`PRAGMA ${name}`).all([])[0]?.[name] ?? 0);
}
