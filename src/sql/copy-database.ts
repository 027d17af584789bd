/**
 * All rows of a database into one of the other kind with the same schema, in one transaction, and compared there with what was read. Knows
 * no table by name but those that it is told to leave out.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

interface CopyOptions {
  /** The kind of `from`; `to` is of the other one. */
  readonly kind: 'sqlite' | 'postgres';
  /** All of it is read as it is at one moment where nobody writes, or within one transaction that sees no other. */
  readonly from: Kysely<unknown>;
  /** Whatever is in the tables that are copied is replaced. */
  readonly to: Transaction<unknown>;
  readonly without: ReadonlySet<string>;
  readonly onTable?: (copied: CopiedTable) => void;
}

type Row = Readonly<Record<string, unknown>>;

const ROWS_AT_ONCE = 50;
const DIGEST_BITS = 256n;

/** Throws when a table is not there, or has other rows than were read. */
export async function copyDatabase({ kind, from, to, without, onTable }: CopyOptions): Promise<CopiedTable[]> {
  const [sqlite, postgres] = kind === 'sqlite' ? [from, to] : [to, from];
  const tables = (await tablesOf(sqlite)).filter((table) => !without.has(table));
  const sorted = await parentsFirst(postgres, tables);
  const [read, reread] = kind === 'sqlite' ? [pagesOf, cursorOver] : [cursorOver, pagesOf];
  for (const table of [...sorted].reverse()) await sql`delete from ${sql.table(table)}`.execute(to);
  const copied: CopiedTable[] = [];
  for (const table of sorted) {
    const before = new Digest();
    for await (const rows of read(from, table)) {
      for (const row of rows) before.add(row);
      await insert(to, table, { rows, isIdentityGiven: kind === 'sqlite' });
    }
    const after = new Digest();
    for await (const rows of reread(to, table)) for (const row of rows) after.add(row);
    if (!before.equals(after)) throw new Error(`the table ${table} has other rows than were copied`);
    if (kind === 'sqlite') await goOnCounting(to, table);
    copied.push({ table, rows: before.rows });
    onTable?.({ table, rows: before.rows });
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

interface Insertion {
  readonly rows: readonly Row[];
  /** PostgreSQL is to take the numbers that it would give itself. */
  readonly isIdentityGiven: boolean;
}

async function insert(to: Transaction<unknown>, table: string, { rows, isIdentityGiven }: Insertion): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => sql`${row[column]}`))})`);
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    ${isIdentityGiven ? sql`overriding system value` : sql``} values ${sql.join(values)}`.execute(to);
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

/** Of rows in any order. */
class Digest {
  rows = 0;
  #sum = 0n;

  add(row: Row): void {
    const hash = createHash('sha256');
    for (const column of Object.keys(row).sort()) hash.update(`${column}=${textOf(row[column])}\0`);
    this.#sum = BigInt.asUintN(Number(DIGEST_BITS), this.#sum + BigInt(`0x${hash.digest('hex')}`));
    this.rows += 1;
  }

  equals(other: Digest): boolean {
    return this.rows === other.rows && this.#sum === other.#sum;
  }
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`;
  return `text ${String(value)}`;
}
