import { sql } from 'kysely';
import { askedTogether } from '../../../lib/asked-together.ts';
import type { Scope } from './schema.ts';

interface Versions {
  current(): Promise<string>;
  /** To be called when a transaction of this store may have committed, before its caller gets the result. */
  changed(): void;
}

/** SQLite counts for a connection what others have committed, so its own are counted here; PostgreSQL knows what a snapshot sees. */
/** What keeps it all. */
export async function product({ db, kind }: Scope): Promise<{ name: string; version: string }> {
  if (kind === 'postgres') {
    const { rows } = await sql<{ server_version: string }>`show server_version`.execute(db);
    return { name: 'PostgreSQL', version: rows[0]?.server_version ?? '' };
  }
  const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db);
  return { name: 'SQLite', version: rows[0]?.version ?? '' };
}

export async function bytes({ db, kind }: Scope): Promise<number> {
  const { rows } =
    kind === 'postgres'
      ? await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db)
      : await sql<{
          bytes: number;
        }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}

export function versions({ db, kind }: Scope): Versions {
  let own = 0;
  const ask = async (): Promise<string> => {
    if (kind === 'postgres') {
      const { rows } = await sql<{ v: string }>`select pg_current_snapshot()::text as v`.execute(db);
      return rows[0]?.v ?? '';
    }
    const before = own;
    const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db);
    return `${before}.${rows[0]?.data_version ?? 0}`;
  };
  return { current: askedTogether(ask), changed: () => void (own += 1) };
}
