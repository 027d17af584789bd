/** What both directions of a move have in common: what is copied, and how the databases of it are made ready. */
import path from 'node:path';
import { createSqlLogStore } from '../backends/log-store/sql/index.ts';
import { createSqlStore, type SqlStoreOptions } from '../backends/store/sql/index.ts';
import { backupSetOf, endUpgrade } from '../lib/backup-sets.ts';
import { SILENT } from '../lib/logger.ts';
import type { Sealer } from '../lib/seal.ts';
import type { CopiedTable } from '../sql/copy-database.ts';
import { openDatabase } from '../sql/database.ts';
import { copyAhead, type Lasting } from '../sql/lasting-rows.ts';

export interface Move {
  readonly home: string;
  /** postgres://... of the one of the two that is no file. */
  readonly url: string;
  readonly to: 'postgres' | 'sqlite';
  /** bringAhead() was called just before. */
  readonly isAhead?: boolean;
  readonly onTable: (copied: CopiedTable) => void;
}

export const FILES = ['tancho.db', 'logs.db'] as const;
/** What was done to a schema is known there; leases are of servers that run. */
export const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['migrations', 'log_migrations'].flatMap((name) => [name, `${name}_lock`, `${name}_readers`]),
  ...['leases', 'lease_tokens'],
]);

/** Most of what there is, on a server with many logs. */
export const LASTING: Lasting = {
  table: 'log_blocks',
  isTrue: 'is_sealed = 1',
  key: ['app', 'first_seq', 'last_seq', 'entries', 'bytes', 'stored', 'is_sealed'],
};

export interface Ahead {
  readonly home: string;
  readonly url: string;
  readonly to: 'postgres' | 'sqlite';
  readonly onRows?: (rows: number) => void;
}

/** While the server still writes. `directory`: of the files. Answers how many rows. */
export async function bringLasting({ url, to, onRows }: Ahead, directory: string): Promise<number> {
  const file = path.join(directory, FILES[1]);
  const sqlite = await openDatabase<unknown>({ kind: 'sqlite', file, synchronous: 'FULL' }, SILENT);
  const postgres = await openDatabase<unknown>({ kind: 'postgres', url, poolSize: 1 }, SILENT);
  try {
    const [source, target] = to === 'postgres' ? [sqlite, postgres] : [postgres, sqlite];
    return await copyAhead(LASTING, source.db, target.db, onRows);
  } finally {
    await Promise.all([sqlite.close(), postgres.close()]);
  }
}

type Opened =
  { readonly kind: 'sqlite'; readonly directory: string } | { readonly kind: 'postgres'; readonly url: string };

/** Gives both databases the newest schema, which of files is an upgrade as any other, and compares the key that seals. */
export async function prepare(place: Opened, sealer: Sealer): Promise<void> {
  const deps = { sealer, logger: SILENT };
  const started = new Date();
  const at = (name: string): SqlStoreOptions => {
    if (place.kind === 'postgres') return place;
    const { kind, directory } = place;
    return { kind, file: path.join(directory, name), backups: backupSetOf(directory, started) };
  };
  await (await createSqlStore(at(FILES[0]), deps)).close();
  await (await createSqlLogStore(at(FILES[1]), deps)).close();
  if (place.kind === 'sqlite') await endUpgrade(place.directory);
}
