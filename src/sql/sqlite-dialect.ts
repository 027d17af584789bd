/**
 * Kysely over a SQLite file with two connections: one reads what is committed and never waits for who writes; the other has everything
 * else. A transaction begins with BEGIN IMMEDIATE and has that one for itself until it ends; whatever else writes waits its turn.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { CompiledQuery, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import { patiently } from './patiently.ts';
import { sqliteValues } from './sqlite-value.ts';
import type { SqliteValue } from './sqlite-value.ts';
import { Mutex } from './mutex.ts';
import type { SqliteConnections } from './sqlite-file.ts';

/** Longer than the wait for another process, short enough that a transaction that waits for itself soon fails. */
const TURN_MS = 10_000;
const KEPT_STATEMENTS = 300;
const REPEATED = /^(?:select|insert|update|delete|with|begin|commit|rollback|pragma data_version)\b/i;
const PRAGMA = /^pragma\b/i;
/** Changes nothing, whoever asks. */
const READS = /^\s*(?:select|pragma data_version)\b/i;

/** Both are closed with the driver. */
export function sqliteDialect({ writer, reader }: SqliteConnections): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new SqliteDriver(writer, reader),
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
  readonly #writer: Statements;
  readonly #reader: Statements;
  readonly #mutex = new Mutex(TURN_MS);
  #inUse = 0;
  #unused: () => void = () => {};

  constructor(writer: DatabaseSync, reader: DatabaseSync) {
    this.#writer = new Statements(writer);
    this.#reader = new Statements(reader);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    this.#inUse += 1;
    return new SqliteConnection(this.#writer, this.#reader, this.#mutex);
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.endTurn();
    this.#inUse -= 1;
    if (this.#inUse === 0) this.#unused();
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await connection.takeTurn('transactions');
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'));
    } catch (error) {
      // A full disk makes SQLite roll back by itself; the error of the statement that failed is the one to report.
      if (!(error instanceof Error && error.message.includes('no transaction is active'))) throw error;
    }
  }

  /** Waits for what runs; Kysely turns later comers away. */
  async destroy(): Promise<void> {
    if (this.#inUse > 0) await new Promise<void>((resolve) => (this.#unused = resolve));
    this.#reader.close();
    this.#writer.close();
  }
}

/** What one query, or one transaction, is run with. From its first change on it has the writer for itself, until it is released. */
class SqliteConnection implements DatabaseConnection {
  readonly #writer: Statements;
  readonly #reader: Statements;
  readonly #mutex: Mutex;
  #hasTurn = false;

  constructor(writer: Statements, reader: Statements, mutex: Mutex) {
    this.#writer = writer;
    this.#reader = reader;
    this.#mutex = mutex;
  }

  async takeTurn(line: 'statements' | 'transactions'): Promise<void> {
    if (this.#hasTurn) return;
    await this.#mutex.acquire(line);
    this.#hasTurn = true;
  }

  endTurn(): void {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    this.#mutex.release();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const values = sqliteValues(query.parameters);
    if (!this.#hasTurn && READS.test(query.sql)) return this.#reader.run<R>(query.sql, values);
    await this.takeTurn('statements');
    return this.#writer.run<R>(query.sql, values);
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not supported: answers are bounded, read them as a whole.');
  }
}

/** One connection to the file, with the statements that it has compiled. */
class Statements {
  readonly #file: DatabaseSync;
  /** Oldest use first. */
  readonly #kept = new Map<string, StatementSync>();

  constructor(file: DatabaseSync) {
    this.#file = file;
  }

  run<R>(sql: string, values: readonly SqliteValue[]): Promise<QueryResult<R>> {
    return patiently(() => this.#execute<R>(sql, values));
  }

  close(): void {
    if (this.#file.isOpen) this.#file.close();
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
