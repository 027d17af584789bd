/**
 * Reads all groups of rows of which few differ from the last time, and of SQLite only those that have changed since. Triggers note what this
 * connection changes, also by way of other tables; they are the connection's own, so the file has nothing of them, and are undone with what
 * a transaction undoes. After others have written to the file all is read.
 */
import { type Kysely, sql } from 'kysely';
import type { Groups, GroupText, KnownGroups } from './known-groups.ts';
import type { Scope, Tables } from './schema.ts';

/** Columns that name the group, by table. */
const GROUPED = {
  changed_apps: { apps: 'name', app_teams: 'app' },
  changed_units: { units: 'app' },
} as const;

const NAMED = { insert: ['new'], update: ['old', 'new'], delete: ['old'] } as const;

interface Reading<T> {
  readonly noted: keyof typeof GROUPED;
  readonly known: KnownGroups<T>;
  /** In the order of their names; of all groups where none are named. */
  readonly read: (db: Kysely<Tables>, names?: readonly string[]) => Promise<readonly GroupText[]>;
}

/** To be called once the tables are there. PostgreSQL has no triggers that are a connection's own. */
export async function noteChanges({ db, kind }: Pick<Scope, 'db' | 'kind'>): Promise<void> {
  if (kind === 'postgres') return;
  for (const [noted, tables] of Object.entries(GROUPED)) {
    await sql`create temp table ${sql.table(noted)} (name text primary key) without rowid`.execute(db);
    for (const [table, column] of Object.entries(tables)) {
      for (const [event, rows] of Object.entries(NAMED)) {
        const notes = rows.map((row) => {
          const name = sql.ref(`${row}.${column}`);
          return sql`insert into ${sql.table(noted)} select ${name} where ${name} not in (select name from ${sql.table(noted)});`;
        });
        const trigger = sql.id(`${noted}_${table}_${event}`);
        await sql`create temp trigger ${trigger} after ${sql.raw(event)} on main.${sql.table(table)} begin ${sql.join(notes, sql` `)} end`.execute(
          db,
        );
      }
    }
  }
}

export async function readAll<T>({ db, kind }: Scope, { noted, known, read }: Reading<T>): Promise<Groups<T>> {
  // What a transaction sees may be undone.
  if (db.isTransaction) return known.of(await read(db));
  if (kind === 'postgres') return known.all(await read(db));
  // Nothing else is done by this connection in between.
  return db.connection().execute(async (own) => {
    const before = known.version;
    known.version = null;
    const changed = await sql<{ name: string }>`delete from ${sql.table(noted)} returning name`.execute(own);
    const names = changed.rows.map(({ name }) => name);
    const groups = names.length === 0 ? [] : await read(own, names);
    const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(own);
    const version = rows[0]?.data_version ?? null;
    const all = version !== null && version === before ? known.allButFor(names, groups) : known.all(await read(own));
    known.version = version;
    return all;
  });
}
