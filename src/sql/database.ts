/** Opens one of the two kinds of database and hands out Kysely over it. Owns no schema. */
import { Kysely } from 'kysely';
import type { Logger } from '../lib/logger.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { openSqliteConnections } from './sqlite-file.ts';
import type { SqliteFileOptions } from './sqlite-file.ts';
import type { PostgresOptions } from './postgres-dialect.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

export type DatabaseOptions =
  ({ readonly kind: 'sqlite' } & SqliteFileOptions) | ({ readonly kind: 'postgres' } & PostgresOptions);

export interface Database<Schema> {
  readonly kind: DatabaseKind;
  /** For people: the file, or host, port and name without the password. */
  readonly where: string;
  readonly db: Kysely<Schema>;
  close(): Promise<void>;
}

export async function openDatabase<Schema>(options: DatabaseOptions, logger: Logger): Promise<Database<Schema>> {
  if (options.kind === 'sqlite') {
    const dialect = sqliteDialect(await openSqliteConnections(options));
    return database('sqlite', options.file, new Kysely<Schema>({ dialect }));
  }
  const { postgresDialect } = await import('./postgres-dialect.ts');
  const dialect = await postgresDialect(options, logger);
  return database('postgres', withoutSecrets(options.url), new Kysely<Schema>({ dialect }));
}

function database<Schema>(kind: DatabaseKind, where: string, db: Kysely<Schema>): Database<Schema> {
  let closing: Promise<void> | null = null;
  return { kind, where, db, close: () => (closing ??= db.destroy()) };
}

export function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return 'the configured PostgreSQL';
  const { hostname, port, pathname } = new URL(url);
  return `postgres://${hostname === '' ? 'localhost' : hostname}${port === '' ? '' : `:${port}`}${pathname}`;
}
