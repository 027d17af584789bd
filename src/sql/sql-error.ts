/** What went wrong in a database, as the same few errors for SQLite and PostgreSQL. */

/** A value that one of the databases cannot hold, such as a text with a NUL character. */
export class UnstorableValue extends Error {
  override readonly name = 'UnstorableValue';
}

/** The database is there but must not be used; the message is one line for the operator. */
export class DatabaseRefused extends Error {
  override readonly name = 'DatabaseRefused';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** The database does not answer in time, or not at all. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/** COMMIT was answered with a rollback, because a statement before it had failed. */
export class TransactionLost extends Error {
  override readonly name = 'TransactionLost';
}

/** `retry`: the same transaction may well succeed when it is run again. */
type SqlFault = 'unique' | 'foreign_key' | 'retry' | 'unreachable' | 'unstorable' | 'other';

const SQLITE_FAULTS: Readonly<Record<number, SqlFault>> = { 2067: 'unique', 1555: 'unique', 787: 'foreign_key' };
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
/** BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const SQLITE_UNREACHABLE: ReadonlySet<number> = new Set([SQLITE_BUSY, 6, 8, 10, 13, 14]);

const POSTGRES_FAULTS: Readonly<Record<string, SqlFault>> = {
  '23505': 'unique',
  '23503': 'foreign_key',
  '23001': 'foreign_key',
  '40001': 'retry',
  '40P01': 'retry',
  '57014': 'unreachable',
  '55P03': 'unreachable',
  '25P03': 'unreachable',
  '3D000': 'unreachable',
};
/** Connection, authorization, resources, operator intervention, system. */
const POSTGRES_UNREACHABLE_CLASSES: ReadonlySet<string> = new Set(['08', '28', '53', '57', '58']);
const NETWORK_ERRORS =
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT|EACCES)$/;
/** `pg` and Kysely report these without a code. */
const LOST_CONNECTION =
  /^(?:driver has already been destroyed|Cannot use a pool after calling end|Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|The server does not support SSL)/;

/** Of PostgreSQL: it is being stopped, another process of it has crashed, it is being started. */
const AWAY_CODES = /^(?:ECONNREFUSED|ECONNRESET|EPIPE|57P0[123])$/;
const AWAY_MESSAGES = /^(?:Connection terminated|Client has encountered a connection error)/;

export function sqlFault(error: unknown): SqlFault {
  if (error instanceof UnstorableValue) return 'unstorable';
  if (error instanceof DatabaseUnreachable) return 'unreachable';
  if (!(error instanceof Error)) return 'other';
  const number = sqliteNumber(error);
  if (number !== null) {
    return SQLITE_FAULTS[number] ?? (SQLITE_UNREACHABLE.has(number & 0xff) ? 'unreachable' : 'other');
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (NETWORK_ERRORS.test(code) || LOST_CONNECTION.test(error.message)) return 'unreachable';
  if (!/^[0-9A-Z]{5}$/.test(code)) return 'other';
  return POSTGRES_FAULTS[code] ?? (POSTGRES_UNREACHABLE_CLASSES.has(code.slice(0, 2)) ? 'unreachable' : 'other');
}

/** True when the error, or what caused it, asks for the transaction to be run again. */
export function asksForRetry(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (sqlFault(at) === 'retry') return true;
  }
  return false;
}

/** True when the error, or what caused it, is that PostgreSQL has ended the connection or takes none now, as while it is restarted. */
export function isAway(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : '';
    if (AWAY_CODES.test(code) || AWAY_MESSAGES.test(at.message)) return true;
  }
  return false;
}

/** True when another connection has the SQLite database; nothing was done and the statement may be tried again. */
export function isSqliteBusy(error: unknown): boolean {
  return error instanceof Error && ((sqliteNumber(error) ?? 0) & 0xff) === SQLITE_BUSY;
}

/** True when the disk of the SQLite database has no room; nothing was done. */
export function isSqliteFull(error: unknown): boolean {
  return error instanceof Error && ((sqliteNumber(error) ?? 0) & 0xff) === SQLITE_FULL;
}

/** The extended result code. */
function sqliteNumber(error: Error): number | null {
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode;
  return null;
}
