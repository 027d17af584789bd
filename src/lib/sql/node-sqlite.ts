/** The SQLite inside Node (22.13 and later), without its warning that it is experimental. */
import type { SqliteHandle, SqliteRow, SqliteStatement, SqliteValue } from './sqlite-handle.ts';

interface NodeStatement {
  all(...values: SqliteValue[]): SqliteRow[];
  run(...values: SqliteValue[]): { changes: number | bigint };
  /** Since Node 22.16. */
  columns?(): readonly unknown[];
}

interface NodeDatabase {
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
}

interface NodeSqliteModule {
  readonly DatabaseSync: new (file: string) => NodeDatabase;
}

export interface NodeSqlite {
  open(file: string): SqliteHandle;
}

const ANSWERS_ROWS = /^\s*(?:select|with|pragma|values|explain)\b|\breturning\b/i;

/** Null when this runtime has none (Node 20, or 22 before 22.13). */
export function nodeSqlite(): NodeSqlite | null {
  const found = withoutExperimentalWarning(() => process.getBuiltinModule('node:sqlite'));
  if (found === undefined) return null;
  const { DatabaseSync } = found as unknown as NodeSqliteModule;
  return { open: (file) => handleOf(withoutExperimentalWarning(() => new DatabaseSync(file))) };
}

function handleOf(database: NodeDatabase): SqliteHandle {
  let open = true;
  return {
    driver: 'node:sqlite',
    prepare: (sql) => statementOf(database.prepare(sql), sql),
    exec: (sql) => database.exec(sql),
    close() {
      if (open) database.close();
      open = false;
    },
  };
}

function statementOf(statement: NodeStatement, sql: string): SqliteStatement {
  return {
    reader: statement.columns === undefined ? ANSWERS_ROWS.test(sql) : statement.columns().length > 0,
    all: (values) => statement.all(...values),
    run: (values) => Number(statement.run(...values).changes),
  };
}

function withoutExperimentalWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] === 'ExperimentalWarning' && String(warning).includes('SQLite')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
