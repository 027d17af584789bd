import { PlatformError } from '../../../domain/errors.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import type { OutputCursor } from '../../../domain/logs/log-store.ts';
import { insertBlock, type InsertedBlock } from './block-rows.ts';
import { storable } from './messages.ts';
import type { LogScope } from './schema.ts';
import { isToBeSealed, seal, SEALED_BYTES } from './seal.ts';

/** Runs inside a transaction. Answers the entries as stored, with their seq. */
export async function append(
  scope: LogScope,
  given: readonly LogEntry[],
  read: OutputCursor | undefined,
): Promise<LogEntry[]> {
  // First, so that whoever comes second waits here, and is refused.
  if (read !== undefined) await moveCursor(scope, read);
  const entries = given.length === 0 ? [] : await numbered(scope, storable(given));
  for (const [app, own] of Map.groupBy(entries, (entry) => entry.app)) await appendTo(scope, app, own);
  return entries;
}

async function moveCursor({ db }: LogScope, { unitId, cursor, after }: OutputCursor): Promise<void> {
  if (typeof after === 'string') {
    const row = db.updateTable('log_cursors').set({ output_cursor: cursor }).where('unit_id', '=', unitId);
    const moved = await row.where('output_cursor', '=', after).executeTakeFirst();
    if (moved.numUpdatedRows === 0n) throw overtaken();
    return;
  }
  const inserted = await db
    .insertInto('log_cursors')
    .values({ unit_id: unitId, output_cursor: cursor })
    .onConflict((conflict) =>
      after === null
        ? conflict.column('unit_id').doNothing()
        : conflict.column('unit_id').doUpdateSet({ output_cursor: cursor }),
    )
    .returning('unit_id')
    .executeTakeFirst();
  if (inserted === undefined) throw overtaken();
}

function overtaken(): PlatformError {
  return new PlatformError('app.busy', 'Somebody else has stored output of this unit meanwhile.', {
    hint: 'Read it again from where it is stored.',
  });
}

async function numbered({ db }: LogScope, entries: readonly LogEntry[]): Promise<LogEntry[]> {
  const { last_seq } = await db
    .updateTable('log_counter')
    .set((row) => ({ last_seq: row('last_seq', '+', entries.length) }))
    .returning('last_seq')
    .executeTakeFirstOrThrow();
  const before = last_seq - entries.length;
  return entries.map((entry, at) => ({ ...entry, seq: before + at + 1 }));
}

async function appendTo(scope: LogScope, app: string, entries: readonly LogEntry[]): Promise<void> {
  for (const chunk of chunks(entries)) {
    const block = await insertBlock(scope, chunk, false);
    const open = await count(scope, app, block);
    if (isToBeSealed(open)) await seal(scope, app);
  }
}

function* chunks(entries: readonly LogEntry[]): Generator<LogEntry[]> {
  let chunk: LogEntry[] = [];
  let size = 0;
  for (const entry of entries) {
    chunk.push(entry);
    size += entry.message.length + 1;
    if (size >= SEALED_BYTES) {
      yield chunk;
      [chunk, size] = [[], 0];
    }
  }
  if (chunk.length > 0) yield chunk;
}

async function count({ db }: LogScope, app: string, { entries, bytes, stored }: InsertedBlock) {
  const none = { removed_entries: 0, removed_seq: 0, removed_at: '' };
  return db
    .insertInto('log_apps')
    .values({ app, entries, bytes, stored, open_blocks: 1, open_bytes: bytes, ...none })
    .onConflict((conflict) =>
      conflict.column('app').doUpdateSet((row) => ({
        entries: row('log_apps.entries', '+', entries),
        bytes: row('log_apps.bytes', '+', bytes),
        stored: row('log_apps.stored', '+', stored),
        open_blocks: row('log_apps.open_blocks', '+', 1),
        open_bytes: row('log_apps.open_bytes', '+', bytes),
      })),
    )
    .returning(['open_blocks', 'open_bytes'])
    .executeTakeFirstOrThrow();
}
