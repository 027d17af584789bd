/** Moves the state of a server from its SQLite files to a PostgreSQL. The server is stopped; the files stay as they are. */
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import { createSqlLogStore } from '../backends/log-store/sql/index.ts';
import { createSqlStore } from '../backends/store/sql/index.ts';
import { PlatformError } from '../domain/errors.ts';
import { SILENT } from '../lib/logger.ts';
import { openSealer } from '../lib/seal.ts';
import { type CopiedTable, copyDatabase } from '../sql/copy-database.ts';
import { openDatabase, withoutSecrets } from '../sql/database.ts';

interface Move {
  readonly home: string;
  /** postgres://... */
  readonly url: string;
  readonly onTable: (copied: CopiedTable) => void;
}

const FILES = ['tancho.db', 'logs.db'] as const;
/** What was done to a schema is known there; leases are of servers that run. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['migrations', 'log_migrations'].flatMap((name) => [name, `${name}_lock`, `${name}_readers`]),
  ...['leases', 'lease_tokens'],
]);

/** All or nothing. Throws PlatformError `unavailable` where something is there already, or one of the two cannot be opened. */
export async function moveState({ home, url, onTable }: Move): Promise<CopiedTable[]> {
  const sealer = await openSealer(path.join(home, 'secret.key'));
  const deps = { sealer, logger: SILENT };
  // Both get the newest schema, and the key is compared.
  for (const place of [
    { kind: 'sqlite', file: path.join(home, FILES[0]) },
    { kind: 'postgres', url },
  ] as const) {
    await (await createSqlStore(place, deps)).close();
  }
  for (const place of [
    { kind: 'sqlite', file: path.join(home, FILES[1]) },
    { kind: 'postgres', url },
  ] as const) {
    await (await createSqlLogStore(place, deps)).close();
  }
  const to = await openDatabase<unknown>({ kind: 'postgres', url, poolSize: 1 }, SILENT);
  try {
    return await to.db.transaction().execute(async (tx) => {
      await demandEmpty(tx, url);
      const copied: CopiedTable[] = [];
      for (const name of FILES) {
        const file = path.join(home, name);
        const from = await openDatabase<unknown>({ kind: 'sqlite', file, synchronous: 'FULL' }, SILENT);
        try {
          copied.push(...(await copyDatabase({ from: from.db, to: tx, without: LEFT_OUT, onTable })));
          if (name === FILES[0]) await goOnWithTokens(from.db, tx);
        } finally {
          await from.close();
        }
      }
      return copied;
    });
  } finally {
    await to.close();
  }
}

async function demandEmpty(tx: Kysely<unknown>, url: string): Promise<void> {
  const { rows } = await sql<{ count: string }>`select count(*) as count from users`.execute(tx);
  if (Number(rows[0]?.count) === 0) return;
  throw new PlatformError('unavailable', `The database ${withoutSecrets(url)} has the state of a platform already.`, {
    hint: 'Name an empty one: createdb <name>.',
  });
}

/** Leases that are given from now on have larger ones than all before. */
async function goOnWithTokens(from: Kysely<unknown>, to: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ last: number }>`select max(last) as last from lease_tokens`.execute(from);
  await sql`select setval('lease_tokens', ${Number(rows[0]?.last ?? 0) + 1})`.execute(to);
}
