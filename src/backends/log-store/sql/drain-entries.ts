/** What a drain has not sent yet, of one app or of all in the order of their seq. */
import { sql } from 'kysely';
import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import type { Searched } from '../../../domain/logs/log-store.ts';
import { openRows, streamsOf } from './block-rows.ts';
import type { LogScope } from './schema.ts';
import { Selection } from './selection.ts';

interface DrainPosition {
  /** '': all. */
  readonly app: string;
  readonly seq: number;
}

export type Read = (filter: LogFilter) => Promise<Searched>;

export async function oldestAfter(
  scope: LogScope,
  read: Read,
  { place: { app, seq }, limit }: { readonly place: DrainPosition; readonly limit: number },
): Promise<LogEntry[]> {
  if (app !== '') return (await read({ app, lines: limit, oldestFirst: true, afterSeq: seq })).entries;
  for (;;) {
    const found = await oldestOfAll(scope, seq, limit);
    if (found !== null) return found;
  }
}

export async function lagOf(scope: LogScope, { app, seq }: DrainPosition): Promise<number> {
  for (;;) {
    const whole = blocksAfter(scope, { app, seq }).where('first_seq', '>', seq);
    const { entries } = await whole
      .select(sql<number>`coalesce(sum(entries), 0)`.as('entries'))
      .executeTakeFirstOrThrow();
    const begun = await blocksAfter(scope, { app, seq })
      .where('first_seq', '<=', seq)
      .select(['app', 'first_seq'])
      .execute();
    let lag = Number(entries);
    let isChanged = false;
    for (const row of begun) {
      const opened = (await openRows(scope, row.app, [row.first_seq])).get(row.first_seq);
      if (opened === undefined) isChanged = true;
      else lag += opened.block.places.seqs.filter((one) => one > seq).length;
    }
    if (!isChanged) return lag;
  }
}

/** Null: blocks were made one meanwhile, or went. */
async function oldestOfAll(scope: LogScope, seq: number, limit: number): Promise<LogEntry[] | null> {
  const rows = await blocksAfter(scope, { app: '', seq }).select(['app', 'first_seq']).orderBy('first_seq').execute();
  let oldest: LogEntry[] = [];
  for (const { app, first_seq } of rows) {
    // All that is in it, and in those behind it, is newer.
    if (oldest.length === limit && (oldest.at(-1)?.seq ?? 0) < first_seq) break;
    const opened = (await openRows(scope, app, [first_seq])).get(first_seq);
    if (opened === undefined) return null;
    const selection = new Selection({ app, lines: limit, oldestFirst: true });
    const span = { after: seq, before: Number.MAX_SAFE_INTEGER, limit, bytes: Infinity };
    const { entries: more } = selection.entries(opened.block, streamsOf(opened.row), span);
    oldest = [...oldest, ...more].sort((one, other) => one.seq - other.seq).slice(0, limit);
  }
  return oldest;
}

function blocksAfter({ db }: LogScope, { app, seq }: DrainPosition) {
  const after = db.selectFrom('log_blocks').where('last_seq', '>', seq);
  return app === '' ? after : after.where('app', '=', app);
}
