/** An open SQLite file, whichever driver opened it. */
export type SqliteDriverName = 'node:sqlite' | 'libsql';

/** What may be bound; anything else is refused before it reaches native code. */
export type SqliteValue = string | number | bigint | null;
export type SqliteRow = Record<string, unknown>;

export interface SqliteStatement {
  /** True when the statement answers rows; use all() then, run() otherwise. */
  readonly reader: boolean;
  all(values: readonly SqliteValue[]): SqliteRow[];
  /** Answers the number of rows changed. */
  run(values: readonly SqliteValue[]): number;
}

export interface SqliteHandle {
  readonly driver: SqliteDriverName;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): void;
  /** Also gives up every prepared statement. Closing twice does nothing. */
  close(): void;
}
