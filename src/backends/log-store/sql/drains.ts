import { sql } from 'kysely';
import type { DrainCursors } from '../../../domain/logs/drain-cursors.ts';
import { lagOf, oldestAfter, type Read } from './drain-entries.ts';
import type { LogScope } from './schema.ts';

export function drainCursors(scope: LogScope, read: Read): DrainCursors {
  const { db } = scope;
  const find = async (id: string) => db.selectFrom('log_drains').selectAll().where('id', '=', id).executeTakeFirst();

  return {
    async openDrain(id, app) {
      const { last_seq: seq } = await db.selectFrom('log_counter').select('last_seq').executeTakeFirstOrThrow();
      const never = { last_success_at: '', last_error_at: '', last_error: '' };
      await db
        .insertInto('log_drains')
        .values({ id, app, seq, ...never, failures: 0, lost: 0, untold: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async drainIds() {
      return (await db.selectFrom('log_drains').select('id').orderBy('id').execute()).map(({ id }) => id);
    },
    async drainCursor(id) {
      const row = await find(id);
      if (row === undefined) return null;
      return {
        seq: row.seq,
        lastSuccessAt: row.last_success_at,
        lastErrorAt: row.last_error_at,
        lastError: row.last_error,
        failures: row.failures,
        lost: row.lost,
        unreported: row.untold,
      };
    },
    async drainLag(id) {
      const row = await find(id);
      return row === undefined ? 0 : lagOf(scope, row);
    },
    async drainEntries(id, bounds) {
      const row = await find(id);
      return row === undefined ? [] : oldestAfter(scope, read, row, bounds);
    },
    async drainSent(id, { seq, reported, at }) {
      await db
        .updateTable('log_drains')
        .set((row) => ({
          seq: sql<number>`case when seq < ${seq} then ${seq} else seq end`,
          untold: row('untold', '-', reported),
          last_success_at: at,
          failures: 0,
        }))
        .where('id', '=', id)
        .execute();
    },
    async drainFailed(id, { error, at, skipTo }) {
      await db
        .updateTable('log_drains')
        .set((row) => ({
          last_error: error,
          last_error_at: at,
          failures: row('failures', '+', 1),
          ...(skipTo !== undefined && {
            seq: skipTo,
            lost: row('lost', '+', 1),
            untold: row('untold', '+', 1),
          }),
        }))
        .where('id', '=', id)
        .execute();
    },
    async forgetDrain(id) {
      await db.deleteFrom('log_drains').where('id', '=', id).execute();
    },
  };
}

/** Runs inside the transaction that removes these entries, of one app; `seqsOf` is asked for theirs when somebody has some of them only. */
export async function countLost(
  { db }: LogScope,
  app: string,
  removed: { readonly firstSeq: number; readonly lastSeq: number; readonly entries: number },
  seqsOf: () => Promise<readonly number[]>,
): Promise<void> {
  const behind = await db
    .selectFrom('log_drains')
    .select(['id', 'seq'])
    .where('app', 'in', [app, ''])
    .where('seq', '<', removed.lastSeq)
    .execute();
  for (const { id, seq } of behind) {
    const lost = seq < removed.firstSeq ? removed.entries : (await seqsOf()).filter((one) => one > seq).length;
    await db
      .updateTable('log_drains')
      .set((row) => ({ lost: row('lost', '+', lost), untold: row('untold', '+', lost) }))
      .where('id', '=', id)
      .execute();
  }
}
