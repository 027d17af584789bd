/**
 * Kysely over one SQLite connection. A transaction begins with BEGIN IMMEDIATE and has the connection for itself until
 * it ends; everything else waits its turn.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { CompiledQuery, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import { patiently } from './patiently.ts';
import { sqliteValues } from './sqlite-value.ts';
import type { SqliteValue } from './sqlite-value.ts';
import { Mutex } from './mutex.ts';

/** Longer than the wait for another process, short enough that a transaction that waits for itself soon fails. */
const TURN_MS = 10_000;
const KEPT_STATEMENTS = 300;
const REPEATED = /^(?:select|insert|update|delete|with|begin|commit|rollback|pragma data_version)\b/i;
const PRAGMA = /^pragma\b/i;

export function sqliteDialect(file: DatabaseSync): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new SqliteDriver(file),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class TransactionalAdapter extends SqliteAdapter {
  /** So that all pending migrations are one BEGIN IMMEDIATE, which is also the lock against a second process. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class SqliteDriver implements Driver {
  readonly #file: DatabaseSync;
  readonly #connection: SqliteConnection;
  readonly #mutex = new Mutex(TURN_MS);

  constructor(file: DatabaseSync) {
    this.#file = file;
    this.#connection = new SqliteConnection(file);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex.acquire();
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#mutex.release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'));
    } catch (error) {
      // A full disk makes SQLite roll back by itself; the error of the statement that failed is the one to report.
      if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error;
    }
  }

  async destroy(): Promise<void> {
    await this.#mutex.close();
    if (this.#file.isOpen) this.#file.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #file: DatabaseSync;
  /** Oldest use first. */
  readonly #kept = new Map<string, StatementSync>();

  constructor(file: DatabaseSync) {
    this.#file = file;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const values = sqliteValues(query.parameters);
    return patiently(() => this.#execute<R>(query.sql, values));
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported: answers are bounded, read them as a whole.');
  }

  #execute<R>(sql: string, values: readonly SqliteValue[]): QueryResult<R> {
    const statement = this.#statement(sql);
    // A pragma that answers nothing may yet be done step by step.
    if (statement.columns().length > 0 || PRAGMA.test(sql)) return { rows: statement.all(...values) as R[] };
    return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) };
  }

  #statement(sql: string): StatementSync {
    if (!REPEATED.test(sql)) return this.#file.prepare(sql);
    const statement = this.#kept.get(sql) ?? this.#file.prepare(sql);
    this.#kept.delete(sql);
    this.#kept.set(sql, statement);
    if (this.#kept.size > KEPT_STATEMENTS) {
      for (const oldest of this.#kept.keys()) {
        this.#kept.delete(oldest);
        break;
      }
    }
    return statement;
  }
}
