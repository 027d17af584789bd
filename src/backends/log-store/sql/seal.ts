/** Makes few large blocks of many small ones, which takes a fraction of the room and can be searched quickly. */
import { deleteBlocks, insertBlock, openRows, streamsOf } from './block-rows.ts';
import { entriesOf } from './block.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import type { LogScope } from './schema.ts';

/** Of messages: what one block has at least once it is sealed, unless many small appends come first, and about the most. */
export const SEALED_BYTES = 256 * 1024;
/** So many appends are made one block however little is in them: each is a row, and rows cost more than short lines. */
const OPEN_BLOCKS = 400;

export function isToBeSealed(open: { readonly open_blocks: number; readonly open_bytes: number }): boolean {
  return open.open_blocks >= OPEN_BLOCKS || open.open_bytes >= SEALED_BYTES;
}

/** Runs inside a transaction. */
export async function seal(scope: LogScope, app: string): Promise<void> {
  const rows = await scope.db
    .selectFrom('log_blocks')
    .select(['first_seq', 'stored', 'bytes', 'entries'])
    .where('app', '=', app)
    .where('is_sealed', '=', 0)
    .orderBy('first_seq')
    .execute();
  const change = { stored: 0, bytes: 0 };
  for (const group of groups(rows)) {
    const firstSeqs = group.map(({ first_seq }) => first_seq);
    const opened = await openRows(scope, app, firstSeqs);
    const entries: LogEntry[] = [];
    for (const first of firstSeqs) {
      const found = opened.get(first);
      if (found !== undefined) entries.push(...entriesOf(app, found.block, streamsOf(found.row)));
    }
    await deleteBlocks(scope, app, firstSeqs);
    const sealed = await insertBlock(scope, entries, true);
    for (const { stored, bytes } of group) {
      change.stored -= stored;
      change.bytes -= bytes;
    }
    change.stored += sealed.stored;
    change.bytes += sealed.bytes;
  }
  await scope.db
    .updateTable('log_apps')
    .set((row) => ({
      stored: row('stored', '+', change.stored),
      bytes: row('bytes', '+', change.bytes),
      open_blocks: 0,
      open_bytes: 0,
    }))
    .where('app', '=', app)
    .execute();
}

function* groups<Row extends { readonly bytes: number; readonly entries: number }>(
  rows: readonly Row[],
): Generator<readonly Row[]> {
  let group: Row[] = [];
  let size = 0;
  for (const row of rows) {
    // An entry takes memory however short it is, and of empty ones earlier versions have counted no bytes.
    const own = row.bytes + row.entries;
    if (group.length > 0 && size + own > 2 * SEALED_BYTES) {
      yield group;
      [group, size] = [[], 0];
    }
    group.push(row);
    size += own;
  }
  if (group.length > 0) yield group;
}
