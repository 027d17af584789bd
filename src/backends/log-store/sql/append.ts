import { sql } from 'kysely';
import type { LogEntry } from '../../../domain/logs/entry.ts';
import type { OutputOffset } from '../../../domain/logs/log-store.ts';
import { storable } from './messages.ts';
import type { LogScope } from './schema.ts';

/** A statement takes this much at a time; all of a batch is one transaction. */
const CHUNK_ENTRIES = 2_000;
const CHUNK_BYTES = 2 * 1024 * 1024;

/** Runs inside a transaction. Answers the entries as stored, with their seq. */
export async function append(
  scope: LogScope,
  given: readonly LogEntry[],
  offset: OutputOffset | undefined,
): Promise<LogEntry[]> {
  const entries = given.length === 0 ? [] : await numbered(scope, storable(given));
  for (const group of streams(entries)) {
    for (const chunk of chunks(group)) await insert(scope, chunk);
  }
  await count(scope, entries);
  if (offset !== undefined) {
    const row = { unit_id: offset.unitId, position: offset.offset };
    await scope.db
      .insertInto('log_offsets')
      .values(row)
      .onConflict((conflict) => conflict.column('unit_id').doUpdateSet({ position: row.position }))
      .execute();
  }
  return entries;
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

/** What a unit prints differs only in time and text; the rest is bound once per statement. */
function streams(entries: readonly LogEntry[]): LogEntry[][] {
  const keyOf = ({ app, source, unit, unitId, release }: LogEntry): string =>
    `${app}\n${source}\n${unit}\n${unitId}\n${release}`;
  return [...Map.groupBy(entries, keyOf).values()];
}

function* chunks(entries: readonly LogEntry[]): Generator<LogEntry[]> {
  let chunk: LogEntry[] = [];
  let size = 0;
  for (const entry of entries) {
    chunk.push(entry);
    size += entry.message.length;
    if (chunk.length === CHUNK_ENTRIES || size >= CHUNK_BYTES) {
      yield chunk;
      chunk = [];
      size = 0;
    }
  }
  if (chunk.length > 0) yield chunk;
}

async function insert({ db, kind }: LogScope, chunk: readonly LogEntry[]): Promise<void> {
  const [first] = chunk;
  if (first === undefined) return;
  const { app, source, unit, unitId, release } = first;
  if (kind === 'postgres') {
    const [seqs, ats, messages] = [chunk.map((e) => e.seq), chunk.map((e) => e.at), chunk.map((e) => e.message)];
    await sql`
      insert into log_entries (app, seq, at, source, unit, unit_id, release, message)
      select ${app}::text, line.seq, line.at, ${source}::text, ${unit}::text, ${unitId}::text, ${release}::integer,
        line.message
      from unnest(${seqs}::bigint[], ${ats}::text[], ${messages}::text[]) as line (seq, at, message)`.execute(db);
    return;
  }
  const lines = JSON.stringify(chunk.map((entry) => [entry.seq, entry.at, entry.message]));
  await sql`
    insert into log_entries (app, seq, at, source, unit, unit_id, release, message)
    select ${app}, value ->> 0, value ->> 1, ${source}, ${unit}, ${unitId}, ${release}, value ->> 2
    from json_each(${lines})`.execute(db);
}

async function count({ db }: LogScope, entries: readonly LogEntry[]): Promise<void> {
  const sums = new Map<string, { entries: number; bytes: number }>();
  for (const { app, message } of entries) {
    const sum = sums.get(app) ?? { entries: 0, bytes: 0 };
    sums.set(app, sum);
    sum.entries += 1;
    sum.bytes += Buffer.byteLength(message);
  }
  for (const [app, sum] of sums) {
    await db
      .insertInto('log_apps')
      .values({ app, ...sum })
      .onConflict((conflict) =>
        conflict.column('app').doUpdateSet((row) => ({
          entries: row('log_apps.entries', '+', sum.entries),
          bytes: row('log_apps.bytes', '+', sum.bytes),
        })),
      )
      .execute();
  }
}
