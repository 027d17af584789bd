/**
 * Rows that never change once they are there: they may be copied while others are still written, and need not be copied again. With what
 * copies have in common.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';

export interface Lasting {
  readonly table: string;
  /** What is true for them, and for none of those that may change. */
  readonly isTrue: string;
  /** Columns that name a row, and are small: two that are equal in these are equal. */
  readonly key: readonly string[];
}

export type Row = Readonly<Record<string, unknown>>;

interface Insertion {
  readonly rows: readonly Row[];
  /** PostgreSQL is to take the numbers that it would give itself. */
  readonly isIdentityGiven: boolean;
}

export const ROWS_AT_ONCE = 50;
const DIGEST_BITS = 256;

/**
 * Brings those that there are now, each compared where it has come to. Whatever the table held there goes. Answers how many; what is removed
 * or added meanwhile is for copyDatabase() to see.
 */
export async function copyAhead(
  { table, isTrue, key }: Lasting,
  from: Kysely<unknown>,
  to: Kysely<unknown>,
  onRows: (rows: number) => void = () => {},
): Promise<number> {
  await sql`delete from ${sql.table(table)}`.execute(to);
  const keys = await keysOf(from, { table, key }, isTrue);
  let copied = 0;
  for await (const rows of rowsByKey(from, table, keys)) {
    const own = rows.map((row) => Object.fromEntries(key.map((column) => [column, row[column]])));
    await to.transaction().execute(async (tx) => {
      const [before, after] = [new RowsDigest(), new RowsDigest()];
      before.add(rows);
      await insertRows(tx, table, { rows, isIdentityGiven: false });
      for await (const there of rowsByKey(tx, table, own)) after.add(there);
      if (!before.equals(after)) throw new Error(`the table ${table} has other rows than were copied`);
    });
    copied += rows.length;
    onRows(copied);
  }
  return copied;
}

/** Removes those that are gone where they came from. Answers how many are left, and keys of the rows that are still to be copied. */
export async function leaveLasting(
  from: Kysely<unknown>,
  to: Kysely<unknown>,
  lasting: Lasting,
): Promise<{ readonly there: number; readonly missing: readonly Row[] }> {
  const [wanted, found] = [await keysOf(from, lasting), await keysOf(to, lasting)];
  const [named, there] = [new Set(wanted.map(textOfRow)), new Set(found.map(textOfRow))];
  const gone = found.filter((row) => !named.has(textOfRow(row)));
  for (let at = 0; at < gone.length; at += ROWS_AT_ONCE)
    await sql`delete from ${sql.table(lasting.table)} where ${anyOf(gone.slice(at, at + ROWS_AT_ONCE))}`.execute(to);
  const missing = wanted.filter((row) => !there.has(textOfRow(row)));
  return { there: wanted.length - missing.length, missing };
}

async function keysOf(
  db: Kysely<unknown>,
  { table, key }: Pick<Lasting, 'table' | 'key'>,
  isTrue = '1 = 1',
): Promise<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  return (
    await sql<Row>`select ${columns} from ${sql.table(table)} where ${sql.raw(isTrue)} order by ${columns}`.execute(db)
  ).rows;
}

/** Those that there are. */
export async function* rowsByKey(db: Kysely<unknown>, table: string, keys: readonly Row[]): AsyncGenerator<Row[]> {
  for (let at = 0; at < keys.length; at += ROWS_AT_ONCE) {
    const some = anyOf(keys.slice(at, at + ROWS_AT_ONCE));
    const { rows } = await sql<Row>`select * from ${sql.table(table)} where ${some}`.execute(db);
    if (rows.length > 0) yield rows;
  }
}

function anyOf(keys: readonly Row[]) {
  const each = keys.map(
    (key) =>
      sql`(${sql.join(
        Object.entries(key).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
        sql` and `,
      )})`,
  );
  return sql.join(each, sql` or `);
}

export async function insertRows(
  db: Kysely<unknown>,
  table: string,
  { rows, isIdentityGiven }: Insertion,
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => sql`${row[column]}`))})`);
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    ${isIdentityGiven ? sql`overriding system value` : sql``} values ${sql.join(values)}`.execute(db);
}

/** Of rows in any order. */
export class RowsDigest {
  rows = 0;
  #sum = 0n;

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const hash = createHash('sha256').update(textOfRow(row));
      this.#sum = BigInt.asUintN(DIGEST_BITS, this.#sum + BigInt(`0x${hash.digest('hex')}`));
    }
    this.rows += rows.length;
  }

  equals(other: RowsDigest): boolean {
    return this.rows === other.rows && this.#sum === other.#sum;
  }
}

function textOfRow(row: Row): string {
  return Object.keys(row)
    .sort()
    .map((column) => `${column}=${textOf(row[column])}\0`)
    .join('');
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`;
  return `text ${String(value)}`;
}
