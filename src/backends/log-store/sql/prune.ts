import { sql } from 'kysely';
import type { LogBounds } from '../../../domain/logs/log-store.ts';
import { countLost } from './drains.ts';
import type { LogScope } from './schema.ts';

/** As many go in one transaction, so that those who write need not wait long. */
const CHUNK_ENTRIES = 2_000;

export async function appsOver({ db }: LogScope, bounds: LogBounds): Promise<string[]> {
  const rows = await db
    .selectFrom('log_apps')
    .select('app')
    .where((row) => row.or([row('entries', '>', bounds.entriesPerApp), row('bytes', '>', bounds.bytesPerApp)]))
    .orderBy('app')
    .execute();
  return rows.map((row) => row.app);
}

/** Runs inside a transaction. Removes the oldest entries of an app, reading no others; answers how many. */
export async function pruneSome(scope: LogScope, app: string, bounds: LogBounds): Promise<number> {
  const { db } = scope;
  const kept = await db.selectFrom('log_apps').selectAll().where('app', '=', app).executeTakeFirst();
  if (kept === undefined) return 0;
  const oldest = await db
    .selectFrom('log_entries')
    .select(['seq', sql<number>`octet_length(message)`.as('bytes')])
    .where('app', '=', app)
    .orderBy('seq')
    .limit(CHUNK_ENTRIES)
    .execute();
  let { entries, bytes } = kept;
  const removed: number[] = [];
  for (const entry of oldest) {
    if (entries <= bounds.entriesPerApp && bytes <= bounds.bytesPerApp) break;
    entries -= 1;
    bytes -= entry.bytes;
    removed.push(entry.seq);
  }
  const last = removed.at(-1);
  if (last === undefined) return 0;
  await db.deleteFrom('log_entries').where('app', '=', app).where('seq', '<=', last).execute();
  await db.updateTable('log_apps').set({ entries, bytes }).where('app', '=', app).execute();
  await countLost(scope, app, removed);
  return kept.entries - entries;
}
