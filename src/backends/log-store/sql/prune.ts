/** Takes the oldest away, by whole blocks; of the one that is over a bound in part, the rest is written anew. */
import type { LogBounds } from '../../../domain/logs/log-store.ts';
import { type BlockRow, deleteBlocks, insertBlock, openRows, ROW_COLUMNS, streamsOf } from './block-rows.ts';
import { entriesOf } from './block.ts';
import { countLost } from './drains.ts';
import type { LogScope } from './schema.ts';

/** As many go in one transaction, so that those who write need not wait long. */
const CHUNK_BLOCKS = 32;
/** However short the disk is: why it is, may be in there. */
const KEPT_BYTES = 4 * 1024 * 1024;

export async function prune(
  scope: LogScope,
  bounds: LogBounds,
  transaction: <T>(work: (inside: LogScope) => Promise<T>) => Promise<T>,
): Promise<number> {
  let removed = 0;
  for (const app of await appsOver(scope, bounds)) {
    let some: number;
    do {
      some = await transaction((inside) => pruneApp(inside, app, bounds));
      removed += some;
    } while (some > 0);
  }
  const most = bounds.giveBackBytes > 0 ? await lessBy(scope, bounds) : bounds.storedBytes;
  let some: number;
  do {
    some = await transaction((inside) => pruneLargest(inside, most));
    removed += some;
  } while (some > 0);
  return removed;
}

async function lessBy({ db }: LogScope, { storedBytes, giveBackBytes }: LogBounds): Promise<number> {
  const apps = await db.selectFrom('log_apps').select('stored').execute();
  const now = apps.reduce((sum, { stored }) => sum + stored, 0);
  return Math.min(storedBytes, Math.max(KEPT_BYTES, now - giveBackBytes));
}

async function appsOver({ db }: LogScope, { entriesPerApp, bytesPerApp, keptSince }: LogBounds): Promise<string[]> {
  const rows = await db
    .selectFrom('log_apps')
    .select('app')
    .where((row) =>
      row.or([
        row('entries', '>', entriesPerApp),
        row('bytes', '>', bytesPerApp),
        // They came in the order of time, so it is enough to look at the oldest.
        row(
          row
            .selectFrom('log_blocks')
            .select('last_at')
            .whereRef('log_blocks.app', '=', 'log_apps.app')
            .orderBy('first_seq')
            .limit(1),
          '<',
          keptSince,
        ),
      ]),
    )
    .orderBy('app')
    .execute();
  return rows.map((row) => row.app);
}

/** Runs inside a transaction. Removes all that is known of an app. */
export async function removeAll(scope: LogScope, app: string): Promise<void> {
  const { db } = scope;
  const drains = db.selectFrom('log_drains').where('app', 'in', [app, '']);
  const slowest = await drains.select('seq').orderBy('seq').limit(1).executeTakeFirst();
  if (slowest !== undefined) {
    const blocks = db.selectFrom('log_blocks').select(ROW_COLUMNS).where('app', '=', app);
    for (const row of await blocks.where('last_seq', '>', slowest.seq).execute()) await countLostOf(scope, app, row);
  }
  await db.deleteFrom('log_blocks').where('app', '=', app).execute();
  await db.deleteFrom('log_apps').where('app', '=', app).execute();
}

/** Runs inside a transaction. Removes the oldest entries of an app, opening no more than one block; answers how many. */
async function pruneApp(scope: LogScope, app: string, bounds: LogBounds): Promise<number> {
  const kept = await appRow(scope, app);
  if (kept === undefined) return 0;
  let { entries, bytes } = kept;
  const gone: BlockRow[] = [];
  for (const row of await oldestRows(scope, app)) {
    const isTooOld = row.last_at < bounds.keptSince;
    // With its last entry there would still be too many.
    const isOver = entries - row.entries >= bounds.entriesPerApp || bytes - row.bytes >= bounds.bytesPerApp;
    if (!isTooOld && !isOver) {
      const isInPart = entries > bounds.entriesPerApp || bytes > bounds.bytesPerApp;
      if (gone.length > 0 || !isInPart) break;
      return trim(scope, row, { entries: entries - bounds.entriesPerApp, bytes: bytes - bounds.bytesPerApp });
    }
    gone.push(row);
    entries -= row.entries;
    bytes -= row.bytes;
  }
  return removeBlocks(scope, app, gone);
}

/** Runs inside a transaction. While all have too much, it is the app with the most that loses its oldest block. */
async function pruneLargest(scope: LogScope, storedBytes: number): Promise<number> {
  const rows = await scope.db.selectFrom('log_apps').select(['app', 'stored']).orderBy('app').execute();
  const apps = rows.map(({ app, stored }) => ({
    app,
    stored,
    oldest: null as BlockRow[] | null,
    gone: [] as BlockRow[],
  }));
  let over = apps.reduce((sum, { stored }) => sum + stored, 0) - storedBytes;
  for (let count = 0; over > 0 && count < CHUNK_BLOCKS; count += 1) {
    const largest = apps.reduce((most, one) => (one.stored > most.stored ? one : most));
    largest.oldest ??= await oldestRows(scope, largest.app);
    const row = largest.oldest[largest.gone.length];
    if (row === undefined) break;
    largest.gone.push(row);
    largest.stored -= row.stored;
    over -= row.stored;
  }
  let removed = 0;
  for (const { app, gone } of apps) if (gone.length > 0) removed += await removeBlocks(scope, app, gone);
  return removed;
}

function oldestRows({ db }: LogScope, app: string): Promise<BlockRow[]> {
  return db
    .selectFrom('log_blocks')
    .select(ROW_COLUMNS)
    .where('app', '=', app)
    .orderBy('first_seq')
    .limit(CHUNK_BLOCKS)
    .execute();
}

async function removeBlocks(scope: LogScope, app: string, gone: readonly BlockRow[]): Promise<number> {
  let removed = 0;
  for (const row of gone) {
    await countLostOf(scope, app, row);
    const { entries, bytes, stored, last_seq: seq, last_at: at } = row;
    const isOpen = row.is_sealed === 0;
    await changeApp(scope, app, {
      entries,
      bytes,
      stored,
      openBlocks: isOpen ? 1 : 0,
      openBytes: isOpen ? bytes : 0,
      seq,
      at,
    });
    removed += entries;
  }
  if (gone.length > 0)
    await deleteBlocks(
      scope,
      app,
      gone.map(({ first_seq }) => first_seq),
    );
  return removed;
}

function countLostOf(scope: LogScope, app: string, row: BlockRow): Promise<void> {
  return countLost(scope, app, span(row), async () => {
    const opened = await openRows(scope, app, [row.first_seq]);
    return opened.get(row.first_seq)?.block.places.seqs ?? [];
  });
}

/** Leaves the newest entries of a block: so many fewer, or so many fewer bytes, whatever is more. */
async function trim(
  scope: LogScope,
  row: BlockRow,
  over: { readonly entries: number; readonly bytes: number },
): Promise<number> {
  const { app } = row;
  const opened = (await openRows(scope, app, [row.first_seq])).get(row.first_seq);
  if (opened === undefined) return 0;
  const all = entriesOf(app, opened.block, streamsOf(row));
  let [count, bytes] = [0, 0];
  for (const { message } of all) {
    if (count >= over.entries && bytes >= over.bytes) break;
    count += 1;
    bytes += Buffer.byteLength(message) + 1;
  }
  const last = all[count - 1];
  if (last === undefined) return 0;
  const removed = { firstSeq: row.first_seq, lastSeq: last.seq, entries: count };
  await countLost(scope, app, removed, async () => all.slice(0, count).map(({ seq }) => seq));
  await deleteBlocks(scope, app, [row.first_seq]);
  const rest = all.slice(count);
  const left = rest.length === 0 ? null : await insertBlock(scope, rest, row.is_sealed === 1);
  const isOpen = row.is_sealed === 0;
  const gone = row.bytes - (left?.bytes ?? 0);
  await changeApp(scope, app, {
    ...{ entries: count, bytes: gone, stored: row.stored - (left?.stored ?? 0), seq: last.seq, at: last.at },
    ...{ openBlocks: isOpen && left === null ? 1 : 0, openBytes: isOpen ? gone : 0 },
  });
  return count;
}

interface Removed {
  readonly entries: number;
  readonly bytes: number;
  readonly stored: number;
  readonly openBlocks: number;
  readonly openBytes: number;
  readonly seq: number;
  readonly at: string;
}

async function changeApp({ db }: LogScope, app: string, removed: Removed): Promise<void> {
  await db
    .updateTable('log_apps')
    .set((row) => ({
      entries: row('entries', '-', removed.entries),
      bytes: row('bytes', '-', removed.bytes),
      stored: row('stored', '-', removed.stored),
      open_blocks: row('open_blocks', '-', removed.openBlocks),
      open_bytes: row('open_bytes', '-', removed.openBytes),
      removed_entries: row('removed_entries', '+', removed.entries),
      removed_seq: removed.seq,
      removed_at: removed.at,
    }))
    .where('app', '=', app)
    .execute();
}

function appRow({ db }: LogScope, app: string) {
  return db.selectFrom('log_apps').selectAll().where('app', '=', app).executeTakeFirst();
}

function span(row: BlockRow) {
  return { firstSeq: row.first_seq, lastSeq: row.last_seq, entries: row.entries };
}
