/**
 * The SQLite of the `libsql` package, for runtimes without their own. Only all() and run() are used: get() and pluck()
 * answer differently from what they promise.
 */
import type { SqliteHandle, SqliteRow, SqliteStatement, SqliteValue } from './sqlite-handle.ts';
import { DatabaseUnreachable } from './sql-error.ts';

interface LibsqlStatement {
  readonly reader: boolean;
  all(values: readonly SqliteValue[]): SqliteRow[];
  run(values: readonly SqliteValue[]): { changes: number };
}

interface LibsqlDatabase {
  prepare(sql: string): LibsqlStatement;
  exec(sql: string): void;
  close(): void;
}

export async function openLibsql(file: string): Promise<SqliteHandle> {
  const { default: loaded } = await import('libsql');
  const Database = loaded as unknown as new (file: string) => LibsqlDatabase;
  let database: LibsqlDatabase | null = opened(() => new Database(file), file);
  // A closed libsql keeps working through statements that are left over, so each use asks here first.
  const usable = (): LibsqlDatabase => {
    if (database === null) throw new DatabaseUnreachable(`The database ${file} is closed.`);
    return database;
  };
  return {
    driver: 'libsql',
    prepare: (sql) => statementOf(usable().prepare(sql), usable),
    exec: (sql) => usable().exec(sql),
    close() {
      if (database === null) return;
      const closing = database;
      database = null;
      try {
        // Its file stays open until garbage collection, so nobody else would tidy the log up.
        closing.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
      } finally {
        closing.close();
      }
    },
  };
}

function statementOf(statement: LibsqlStatement, usable: () => LibsqlDatabase): SqliteStatement {
  return {
    reader: statement.reader,
    all(values) {
      usable();
      return statement.all(values);
    },
    run(values) {
      usable();
      return statement.run(values).changes;
    },
  };
}

function opened<T>(open: () => T, file: string): T {
  try {
    return open();
  } catch (error) {
    throw new DatabaseUnreachable(`The database ${file} cannot be opened.`, { cause: error });
  }
}
