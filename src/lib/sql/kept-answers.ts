import type { SqliteHandle, SqliteRow, SqliteStatement, SqliteValue } from './sqlite-file.ts';

/** Reading fewer rows costs no more than asking whether they are still true. */
const FEWEST_ROWS = 24;
const MOST_ROWS = 4_000;

/**
 * Long answers of one connection, each given again as long as nothing has been written: not by this connection, which
 * calls forget() at whatever is not a SELECT, and not by another one, which SQLite itself tells. Rows are frozen, because
 * several readers get the same.
 */
export class KeptAnswers {
  readonly #answers = new Map<string, readonly SqliteRow[]>();
  readonly #versionStatement: SqliteStatement;
  #version: unknown = null;
  #rows = 0;

  constructor(handle: SqliteHandle) {
    this.#versionStatement = handle.prepare('PRAGMA data_version');
  }

  read(sql: string, values: readonly SqliteValue[], ask: () => SqliteRow[]): readonly SqliteRow[] {
    const key = [sql, ...values.map((value) => `${typeof value} ${value}`)].join('\0');
    // Before the rows are read: what is written in between makes the version another one.
    this.#forgetIfOlder();
    const kept = this.#answers.get(key);
    if (kept !== undefined) return kept;
    const rows = ask();
    if (rows.length >= FEWEST_ROWS) this.#keep(key, rows);
    return rows;
  }

  forget(): void {
    this.#answers.clear();
    this.#rows = 0;
  }

  #forgetIfOlder(): void {
    const version = this.#versionStatement.all([])[0]?.['data_version'];
    if (version !== this.#version) this.forget();
    this.#version = version;
  }

  #keep(key: string, rows: SqliteRow[]): void {
    if (this.#rows + rows.length > MOST_ROWS) this.forget();
    if (rows.length > MOST_ROWS) return;
    this.#rows += rows.length;
    for (const row of rows) Object.freeze(row);
    this.#answers.set(key, Object.freeze(rows));
  }
}
