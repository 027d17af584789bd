/**
 * Log entries in SQL: a SQLite file of their own, so that they never wait for control state, or tables in the shared
 * PostgreSQL. Owns how they are kept and bounded; what is logged, and when to prune, is the domain's.
 */
import path from 'node:path';
import { sql } from 'kysely';
import { PlatformError } from '../../../domain/errors.ts';
import type { LogStore } from '../../../domain/logs/log-store.ts';
import { copyIntoSet } from '../../../lib/backup-sets.ts';
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import { openDatabase, withoutSecrets } from '../../../sql/database.ts';
import type { DatabaseOptions } from '../../../sql/database.ts';
import { migrate } from '../../../sql/migrate.ts';
import { DatabaseRefused, sqlFault } from '../../../sql/sql-error.ts';
import { withTranslatedErrors } from '../../../lib/translated-errors.ts';
import { Turns } from '../../../lib/turns.ts';
import { append } from './append.ts';
import { drainCursors } from './drains.ts';
import { freeRoom, prepareToFree } from './freed-room.ts';
import { keptMetrics } from './metrics.ts';
import { migrations } from './migrations/index.ts';
import { prune, removeAll } from './prune.ts';
import { query } from './query.ts';
import { RoomReserve } from './room-reserve.ts';
import type { SearchThreads } from './search/search-threads.ts';
import type { LogScope, LogTables } from './schema.ts';

export type SqlLogStoreOptions =
  | {
      readonly kind: 'sqlite';
      readonly file: string;
      /** Folder for a copy of the file, made before an upgrade changes its schema; absent: none is made. */
      readonly backups?: string;
    }
  | { readonly kind: 'postgres'; readonly url: string };

interface SqlLogStoreDeps {
  readonly logger: Logger;
}

/** One writes at a time; the others read. */
const POOL_SIZE = 4;
/** Begun and not over: one that writes, and the next. Thousands of units may print something in one moment, and what has begun takes much more memory than what has not. */
const TRANSACTIONS = 2;

/** Opens the database, creating and migrating it as needed. Throws PlatformError `unavailable` when that fails. */
export async function createSqlLogStore(options: SqlLogStoreOptions, deps: SqlLogStoreDeps): Promise<LogStore> {
  const where = options.kind === 'sqlite' ? options.file : withoutSecrets(options.url);
  const translate = (thrown: unknown): unknown => translated(thrown, where);
  try {
    const database = await openDatabase<LogTables>(databaseOptions(options), deps.logger);
    try {
      await migrate(database, migrations(database.kind), () => backUp(options));
    } catch (error) {
      await database.close();
      throw error;
    }
    const scope = { db: database.db, kind: database.kind };
    // A disk without room for a second copy: it goes on as it is.
    await bestEffort(deps.logger, 'making the file of the logs one that shrinks', () => prepareToFree(scope));
    const bare = logStore(scope, `sql (${database.kind})`, database.close);
    const store = options.kind === 'sqlite' ? withReserve(bare, new RoomReserve(options.file), deps.logger) : bare;
    return withTranslatedErrors(store, translate);
  } catch (error) {
    throw translate(error);
  }
}

/** PostgreSQL has its own ways, and its own operators. */
async function backUp(options: SqlLogStoreOptions): Promise<void> {
  if (options.kind !== 'sqlite' || options.backups === undefined) return;
  await copyIntoSet(options.backups, options.file, path.basename(options.file));
}

function databaseOptions(options: SqlLogStoreOptions): DatabaseOptions {
  return options.kind === 'sqlite' ? { ...options, synchronous: 'NORMAL' } : { ...options, poolSize: POOL_SIZE };
}

function logStore(scope: LogScope, name: string, close: () => Promise<void>): LogStore {
  const { db } = scope;
  const turns = new Turns(TRANSACTIONS);
  const transact: Transact = (work) => turns.run(() => transaction(scope, work));
  let searching: Promise<SearchThreads> | null = null;
  // Loaded when it is wanted: most servers search little.
  const threads = (): Promise<SearchThreads> =>
    (searching ??= import('./search/search-threads.ts').then((loaded) => new loaded.SearchThreads()));
  return {
    name,
    append: (entries, read) => transact((inside) => append(inside, entries, read)),
    query: async (filter) => (await query(scope, threads, filter)).entries,
    search: (filter, forMs) => query(scope, threads, filter, forMs),
    async removed(app) {
      const row = await db
        .selectFrom('log_apps')
        .select(['removed_entries', 'removed_seq', 'removed_at'])
        .where('app', '=', app)
        .executeTakeFirst();
      if (row === undefined || row.removed_entries === 0) return null;
      return { entries: row.removed_entries, seq: row.removed_seq, at: row.removed_at };
    },
    ...keptMetrics(scope),
    ...drainCursors(scope, (filter) => query(scope, threads, filter)),
    async cursor(unitId) {
      const row = await db
        .selectFrom('log_cursors')
        .select('output_cursor')
        .where('unit_id', '=', unitId)
        .executeTakeFirst();
      return row?.output_cursor ?? null;
    },
    async forgetUnit(unitId) {
      await db.deleteFrom('log_cursors').where('unit_id', '=', unitId).execute();
    },
    removeApp: (app) => transact((inside) => removeAll(inside, app)),
    async prune(bounds) {
      const removed = await prune(scope, bounds, transact);
      if (removed > 0) await freeRoom(scope);
      return removed;
    },
    async close() {
      await (await searching)?.close();
      // Those who wait come first.
      await turns.run(async () => undefined);
      await close();
    },
  };
}

/** Where pruning itself finds no room it is tried once more with what was held for that. */
function withReserve(store: LogStore, reserve: RoomReserve, logger: Logger): LogStore {
  return {
    ...store,
    async prune(bounds) {
      await bestEffort(logger, 'holding room for the logs', () => reserve.keep());
      try {
        return await store.prune(bounds);
      } catch (error) {
        if (sqlFault(error) !== 'unreachable' || !(await reserve.letGo())) throw error;
        return store.prune(bounds);
      }
    },
  };
}

type Transact = <T>(work: (inside: LogScope) => Promise<T>) => Promise<T>;

/** One at a time, on PostgreSQL over all processes, by holding the counter. */
function transaction<T>(scope: LogScope, work: (inside: LogScope) => Promise<T>): Promise<T> {
  return scope.db.transaction().execute(async (db) => {
    if (scope.kind === 'postgres') await sql`select last_seq from log_counter for update`.execute(db);
    return work({ ...scope, db });
  });
}

function translated(thrown: unknown, where: string): unknown {
  if (thrown instanceof PlatformError) return thrown;
  if (thrown instanceof DatabaseRefused) return new PlatformError('unavailable', thrown.message, { cause: thrown });
  const fault = sqlFault(thrown);
  if (fault === 'unstorable') {
    return new PlatformError('input.invalid', 'The name has a NUL character, which cannot be stored.', {
      cause: thrown,
    });
  }
  if (fault !== 'unreachable') return thrown;
  return new PlatformError('unavailable', `The log database ${where} cannot be used at the moment.`, {
    hint: 'Check that it is running and reachable, that its disk has room, then try again.',
    cause: thrown,
  });
}
