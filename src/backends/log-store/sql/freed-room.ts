/** A SQLite file gives the room of what was removed back to the disk, a little at a time; PostgreSQL does that by itself. */
import { sql } from 'kysely';
import type { LogScope } from './schema.ts';

/** `auto_vacuum` of SQLite: pages can be given back, when that is asked for. */
const INCREMENTAL = 2;
/** At a time: others wait for it. */
const PAGES = 1_000;
/** Left for what comes next. */
const KEPT_PAGES = 2_000;

/** Once per file: what was made otherwise is written anew. To be called before anybody else uses it. */
export async function prepareToFree({ db, kind }: LogScope): Promise<void> {
  if (kind !== 'sqlite') return;
  const { rows } = await sql<{ auto_vacuum: number }>`pragma auto_vacuum`.execute(db);
  if (rows[0]?.auto_vacuum === INCREMENTAL) return;
  await sql.raw(`pragma auto_vacuum = ${INCREMENTAL}`).execute(db);
  await sql`vacuum`.execute(db);
}

export async function freeRoom({ db, kind }: LogScope): Promise<void> {
  if (kind !== 'sqlite') return;
  const free = async (): Promise<number> => {
    const { rows } = await sql<{ freelist_count: number }>`pragma freelist_count`.execute(db);
    return rows[0]?.freelist_count ?? 0;
  };
  for (let [left, before] = [await free(), Infinity]; left > KEPT_PAGES && left < before;) {
    await sql.raw(`pragma incremental_vacuum(${Math.min(PAGES, left - KEPT_PAGES)})`).execute(db);
    [left, before] = [await free(), left];
  }
}
