/** Blocks as rows: written whole, read without their contents until those are wanted. */
import { refuseNul } from '../../../sql/sqlite-value.ts';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import { filterOf } from './block-filter.ts';
import { type Block, openBlock, type OpenBlock, packBlock, type Stream } from './block.ts';
import type { LogScope, LogTables } from './schema.ts';

export type BlockRow = Omit<LogTables['log_blocks'], 'packed' | 'filter'>;

export const ROW_COLUMNS = [
  'app',
  'first_seq',
  'last_seq',
  'first_at',
  'last_at',
  'entries',
  'bytes',
  'stored',
  'is_sealed',
  'streams',
] as const;

export function streamsOf({ streams }: Pick<BlockRow, 'streams'>): readonly Stream[] {
  return JSON.parse(streams) as readonly Stream[];
}

/** Runs inside a transaction. Answers what the block takes. A sealed one gets a filter. */
export async function insertBlock(
  { db }: LogScope,
  entries: readonly LogEntry[],
  isSealed: boolean,
): Promise<InsertedBlock> {
  const block = packBlock(entries);
  for (const parts of block.streams) for (const part of parts) if (typeof part === 'string') refuseNul(part);
  const filter = isSealed ? filterOf(entries.map(({ message }) => message).join('\n')) : new Uint8Array(0);
  const stored = block.packed.length + filter.length;
  await db
    .insertInto('log_blocks')
    .values({
      app: entries[0]?.app ?? '',
      first_seq: block.firstSeq,
      last_seq: block.lastSeq,
      first_at: block.firstAt,
      last_at: block.lastAt,
      entries: block.entries,
      bytes: block.bytes,
      stored,
      is_sealed: isSealed ? 1 : 0,
      streams: JSON.stringify(block.streams),
      filter: Buffer.from(filter.buffer, filter.byteOffset, filter.byteLength),
      packed: block.packed,
    })
    .execute();
  return { ...block, stored };
}

export type InsertedBlock = Omit<Block, 'packed'> & { readonly stored: number };

export interface PackedRow extends Pick<BlockRow, 'first_seq' | 'last_seq' | 'streams'> {
  readonly packed: Uint8Array;
}

/** The contents by first seq, with the row as it is now; who is not among them was removed, or made one with others. */
export async function packedRows(
  { db }: LogScope,
  app: string,
  firstSeqs: readonly number[],
): Promise<ReadonlyMap<number, PackedRow>> {
  const rows = await db
    .selectFrom('log_blocks')
    .select(['first_seq', 'last_seq', 'streams', 'packed'])
    .where('app', '=', app)
    .where('first_seq', 'in', [...firstSeqs])
    .execute();
  return new Map(rows.map((row) => [row.first_seq, row]));
}

/** The same, opened. */
export async function openRows(
  scope: LogScope,
  app: string,
  firstSeqs: readonly number[],
): Promise<ReadonlyMap<number, { readonly row: PackedRow; readonly block: OpenBlock }>> {
  const rows = await packedRows(scope, app, firstSeqs);
  return new Map([...rows].map(([first, row]) => [first, { row, block: openBlock(row.packed) }]));
}

/** Runs inside a transaction. */
export async function deleteBlocks({ db }: LogScope, app: string, firstSeqs: readonly number[]): Promise<void> {
  await db
    .deleteFrom('log_blocks')
    .where('app', '=', app)
    .where('first_seq', 'in', [...firstSeqs])
    .execute();
}
