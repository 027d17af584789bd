/** What a drain has not sent yet, of one app or of all in the order of their seq. */
import { sql } from 'kysely';
import type { EntryBounds } from '../../../domain/logs/drain-cursors.ts';
import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import type { Searched } from '../../../domain/logs/log-store.ts';
import { type PackedRow, packedRows, streamsOf } from './block-rows.ts';
import { openBlock, type OpenBlock } from './block.ts';
import { letOthersGoOn } from './query.ts';
import type { LogScope } from './schema.ts';
import { Selection } from './selection.ts';

interface DrainPosition {
  /** '': all. */
  readonly app: string;
  readonly seq: number;
}

interface NextBlock {
  readonly app: string;
  readonly first_seq: number;
}

/** Blocks that are looked through before each app is asked for its own. */
const FEW = 500;

export type Read = (filter: LogFilter) => Promise<Searched>;

export async function oldestAfter(
  scope: LogScope,
  read: Read,
  { app, seq }: DrainPosition,
  { lines, bytes }: EntryBounds,
): Promise<LogEntry[]> {
  if (app === '') return oldestOfAll(scope, seq, { lines, bytes });
  return (await read({ app, lines, mostBytes: bytes, oldestFirst: true, afterSeq: seq })).entries;
}

export async function lagOf(scope: LogScope, { app, seq }: DrainPosition): Promise<number> {
  for (;;) {
    const whole = scope.db.selectFrom('log_blocks').where('first_seq', '>', seq).where('last_seq', '>', seq);
    const { entries } = await (app === '' ? whole : whole.where('app', '=', app))
      .select(sql<number>`coalesce(sum(entries), 0)`.as('entries'))
      .executeTakeFirstOrThrow();
    let lag = Number(entries);
    let isChanged = false;
    for (const next of await nextBlocks(scope, { app, seq })) {
      if (next.first_seq > seq) continue;
      const row = (await packedRows(scope, next.app, [next.first_seq])).get(next.first_seq);
      if (row === undefined) isChanged = true;
      else lag += opened(row, (block) => block.places.seqs.filter((one) => one > seq).length);
      await letOthersGoOn();
    }
    if (!isChanged) return lag;
  }
}

/** Opens of each app what begins before the last of those that were found: about one block of each that prints, however many entries are wanted. */
async function oldestOfAll(scope: LogScope, seq: number, bounds: EntryBounds): Promise<LogEntry[]> {
  // What is stored meanwhile is left for later: of an app that is not looked at any more there may be something older.
  const { last_seq } = await scope.db.selectFrom('log_counter').select('last_seq').executeTakeFirstOrThrow();
  let oldest: readonly LogEntry[] = [];
  let before = last_seq + 1;
  for (const { app, first_seq } of await nextBlocks(scope, { app: '', seq })) {
    // What is left begins later still.
    if (first_seq >= before) break;
    for (let after = seq; ;) {
      const row = await blockBetween(scope, { app, after, before });
      if (row === undefined) break;
      const selection = new Selection({ app, lines: bounds.lines, oldestFirst: true });
      const span = { after, before, limit: bounds.lines, bytes: bounds.bytes };
      const { entries } = opened(row, (block) => selection.entries(block, streamsOf(row), span));
      oldest = [...oldest, ...entries].sort((one, other) => one.seq - other.seq);
      const end = endOf(oldest, bounds);
      if (end !== null) {
        oldest = oldest.slice(0, end);
        before = oldest.at(-1)?.seq ?? before;
      }
      after = row.last_seq;
      await letOthersGoOn();
    }
  }
  return [...oldest];
}

/** How many of them are enough; null: more are wanted. */
function endOf(entries: readonly LogEntry[], { lines, bytes }: EntryBounds): number | null {
  let left = bytes;
  const last = entries.findIndex(({ message }, at) => at === lines - 1 || (left -= message.length) <= 0);
  return last === -1 ? null : last + 1;
}

/** Of each app that has something after the seq the first block with it, the oldest first. */
async function nextBlocks({ db }: LogScope, { app, seq }: DrainPosition): Promise<NextBlock[]> {
  if (app === '') {
    // Nearly always, and however many apps there are.
    const blocks = db.selectFrom('log_blocks').select(['app', 'first_seq']).where('last_seq', '>', seq);
    const few = await blocks
      .orderBy('last_seq')
      .limit(FEW + 1)
      .execute();
    const first = Map.groupBy(few, (block) => block.app).values();
    if (few.length <= FEW) return [...first].flatMap(([one]) => one ?? []).sort((a, b) => a.first_seq - b.first_seq);
  }
  const apps = db
    .selectFrom('log_apps')
    .select(({ selectFrom }) => [
      'app',
      selectFrom('log_blocks')
        .select('first_seq')
        .whereRef('log_blocks.app', '=', 'log_apps.app')
        .where('last_seq', '>', seq)
        .orderBy('last_seq')
        .limit(1)
        .as('first_seq'),
    ]);
  const next = db.selectFrom((app === '' ? apps : apps.where('app', '=', app)).as('next'));
  const rows = await next.selectAll().where('first_seq', 'is not', null).orderBy('first_seq').execute();
  return rows.map((row) => ({ app: row.app, first_seq: row.first_seq ?? 0 }));
}

function blockBetween(
  { db }: LogScope,
  { app, after, before }: { readonly app: string; readonly after: number; readonly before: number },
): Promise<PackedRow | undefined> {
  return db
    .selectFrom('log_blocks')
    .select(['first_seq', 'last_seq', 'streams', 'packed'])
    .where('app', '=', app)
    .where('last_seq', '>', after)
    .where('first_seq', '<', before)
    .orderBy('last_seq')
    .limit(1)
    .executeTakeFirst();
}

function opened<T>({ packed }: PackedRow, work: (block: OpenBlock) => T): T {
  const block = openBlock(packed);
  try {
    return work(block);
  } finally {
    block.letGo();
  }
}
