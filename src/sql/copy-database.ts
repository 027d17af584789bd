/**
 * All rows of a database into one of the other kind with the same schema, in one transaction, and compared there with what was read. Knows
 * no table by name but those that it is given.
 */
import { type Kysely, sql, type Transaction } from 'kysely';
import {
  insertRows,
  type Lasting,
  leaveLasting,
  type Row,
  ROWS_AT_ONCE,
  RowsDigest,
  rowsByKey,
} from './lasting-rows.ts';

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of them were there already. */
  readonly ahead?: number;
}

interface CopyOptions {
  /** The kind of `from`; `to` is of the other one. */
  readonly kind: 'sqlite' | 'postgres';
  /** All of it is read as it is at one moment where nobody writes, or within one transaction that sees no other. */
  readonly from: Kysely<unknown>;
  /** Whatever is in the tables that are copied is replaced. */
  readonly to: Transaction<unknown>;
  readonly without: ReadonlySet<string>;
  /** Tables of which copyAhead() has copied rows. */
  readonly ahead?: readonly Lasting[];
  readonly onTable?: (copied: CopiedTable) => void;
}

/** Throws when a table is not there, or has other rows than were read. */
export async function copyDatabase(options: CopyOptions): Promise<CopiedTable[]> {
  const { kind, from, to, without, ahead = [], onTable } = options;
  const [sqlite, postgres] = kind === 'sqlite' ? [from, to] : [to, from];
  const tables = (await tablesOf(sqlite)).filter((table) => !without.has(table));
  const sorted = await parentsFirst(postgres, tables);
  const [read, reread] = kind === 'sqlite' ? [pagesOf, cursorOver] : [cursorOver, pagesOf];
  const lasting = new Map(ahead.map((one) => [one.table, one]));
  for (const table of [...sorted].reverse())
    if (!lasting.has(table)) await sql`delete from ${sql.table(table)}`.execute(to);
  const copied: CopiedTable[] = [];
  for (const table of sorted) {
    const kept = lasting.get(table);
    const left = kept === undefined ? null : await leaveLasting(from, to, kept);
    const before = new RowsDigest();
    for await (const rows of left === null ? read(from, table) : rowsByKey(from, table, left.missing)) {
      before.add(rows);
      await insertRows(to, table, { rows, isIdentityGiven: kind === 'sqlite' });
    }
    const after = new RowsDigest();
    for await (const rows of left === null ? reread(to, table) : rowsByKey(to, table, left.missing)) after.add(rows);
    if (!before.equals(after)) throw new Error(`the table ${table} has other rows than were copied`);
    if (kind === 'sqlite') await goOnCounting(to, table);
    const done =
      left === null ? { table, rows: before.rows } : { table, rows: before.rows + left.there, ahead: left.there };
    copied.push(done);
    onTable?.(done);
  }
  return copied;
}

async function tablesOf(sqlite: Kysely<unknown>): Promise<string[]> {
  const found = await sql<{ name: string }>`select name from sqlite_master where type = 'table' order by name`.execute(
    sqlite,
  );
  return found.rows.map(({ name }) => name).filter((name) => !name.startsWith('sqlite_'));
}

async function parentsFirst(postgres: Kysely<unknown>, tables: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ child: string; parent: string }>`
    select child.relname as child, parent.relname as parent from pg_constraint as c
    join pg_class as child on child.oid = c.conrelid join pg_class as parent on parent.oid = c.confrelid
    where c.contype = 'f'`.execute(postgres);
  const left = new Set(tables);
  const sorted: string[] = [];
  while (left.size > 0) {
    const ready = [...left].filter((table) =>
      rows.every(({ child, parent }) => child !== table || parent === table || !left.has(parent)),
    );
    if (ready.length === 0) throw new Error('tables refer to each other in a circle');
    for (const table of ready) left.delete(table);
    sorted.push(...ready);
  }
  return sorted;
}

async function* pagesOf(sqlite: Kysely<unknown>, table: string): AsyncGenerator<Row[]> {
  let after = -1;
  for (;;) {
    const { rows } = await sql<Row & { rowid_: number }>`
      select *, rowid as rowid_ from ${sql.table(table)} where rowid > ${after} order by rowid limit ${ROWS_AT_ONCE}`.execute(
      sqlite,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.rowid_;
    yield rows.map(({ rowid_: _, ...row }) => row);
  }
}

/** Within a transaction. */
async function* cursorOver(postgres: Kysely<unknown>, table: string): AsyncGenerator<Row[]> {
  await sql`declare copied no scroll cursor for select * from ${sql.table(table)}`.execute(postgres);
  try {
    for (;;) {
      const { rows } = await sql<Row>`fetch ${sql.lit(ROWS_AT_ONCE)} from copied`.execute(postgres);
      if (rows.length === 0) return;
      yield rows;
    }
  } finally {
    await sql`close copied`.execute(postgres);
  }
}

/** Numbers that the database gives go on after those that were given before. SQLite sees to that itself. */
async function goOnCounting(to: Transaction<unknown>, table: string): Promise<void> {
  const { rows } = await sql<{ column_name: string }>`select column_name from information_schema.columns
    where table_schema = current_schema() and table_name = ${table} and is_identity = 'YES'`.execute(to);
  for (const { column_name: column } of rows) {
    await sql`select setval(pg_get_serial_sequence(${table}, ${column}),
      coalesce((select max(${sql.ref(column)}) from ${sql.table(table)}), 0) + 1, false)`.execute(to);
  }
}
