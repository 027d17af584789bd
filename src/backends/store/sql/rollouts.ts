import { sql } from 'kysely';
import type { AppReader, AppWriter } from '../../../domain/apps/app-store.ts';
import type { Rollout, RolloutState } from '../../../domain/rollouts/rollout.ts';
import type { FailureCause } from '../../../domain/failure.ts';
import { listOf } from '../../../sql/list-of.ts';
import { appNotFound, needing } from './faults.ts';
import type { RolloutsTable, Scope } from './schema.ts';

export const UNFINISHED_ROLLOUTS: readonly RolloutState[] = ['starting', 'routing', 'draining'];

export function rolloutReader({ db }: Scope): Pick<AppReader, 'rollout' | 'unfinishedRollouts'> {
  return {
    async rollout(id) {
      const row = await db.selectFrom('rollouts').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async unfinishedRollouts() {
      const rows = await db
        .selectFrom('rollouts')
        .selectAll()
        .where('state', 'in', UNFINISHED_ROLLOUTS)
        .orderBy('started_at')
        .orderBy('id')
        .execute();
      return rows.map(fromRow);
    },
  };
}

/** A rollout goes with its app: to change one that is gone does nothing. */
export function rolloutWriter({
  db,
  kind,
}: Scope): Pick<AppWriter, 'insertRollout' | 'updateRollout' | 'deleteOldRollouts'> {
  return {
    async insertRollout(rollout) {
      const row: Omit<RolloutsTable, 'control'> = {
        id: rollout.id,
        app: rollout.app,
        release: rollout.release,
        reason: rollout.reason,
        actor: rollout.by,
        state: rollout.state,
        cause: rollout.cause,
        started_at: rollout.startedAt,
        finished_at: rollout.finishedAt,
        failures_before: rollout.failuresBefore,
        failed_requests: rollout.failedRequests,
      };
      await needing(() => appNotFound(rollout.app), db.insertInto('rollouts').values(row).execute());
    },
    async updateRollout(id, change) {
      if (Object.keys(change).length === 0) return;
      await db
        .updateTable('rollouts')
        .set({
          state: change.state,
          cause: change.cause,
          finished_at: change.finishedAt,
          failures_before: change.failuresBefore,
          failed_requests: change.failedRequests,
        })
        .where('id', '=', id)
        .execute();
    },
    async deleteOldRollouts({ keep, batch }) {
      const place = sql<number>`row_number() over (partition by app order by started_at desc, id desc)`;
      const ranked = db
        .selectFrom('rollouts')
        .select(['id', 'app', 'state', place.as('place')])
        .as('ranked');
      const old = await db
        .selectFrom(ranked)
        .innerJoin('apps', 'apps.name', 'ranked.app')
        .select('ranked.id')
        .where('ranked.place', '>', keep)
        .where('ranked.state', 'not in', UNFINISHED_ROLLOUTS)
        .where((where) =>
          where.or([where('apps.rollout', 'is', null), where('apps.rollout', '<>', where.ref('ranked.id'))]),
        )
        .limit(batch)
        .execute();
      if (old.length === 0) return 0;
      const ids = old.map(({ id }) => id);
      await db.deleteFrom('rollouts').where('id', 'in', listOf(kind, ids)).execute();
      return old.length;
    },
  };
}

function fromRow(row: Omit<RolloutsTable, 'control'>): Rollout {
  return {
    id: row.id,
    app: row.app,
    release: row.release,
    reason: row.reason,
    by: row.actor,
    state: row.state as RolloutState,
    cause: row.cause as FailureCause | null,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    failuresBefore: Number(row.failures_before),
    failedRequests: row.failed_requests === null ? null : Number(row.failed_requests),
  };
}
