import { DEPLOY_STATES, type DeployState, FINISHED } from '../../../domain/deploys/deploy.ts';
import type { ControlReader, ControlWriter } from '../../../domain/controls/control-store.ts';
import { isCommitted } from '../../../domain/deploys/interrupted.ts';
import { listOf } from '../../../sql/list-of.ts';
import { UNFINISHED_ROLLOUTS } from './rollouts.ts';
import type { Scope } from './schema.ts';

const UNFINISHED_DEPLOYS = DEPLOY_STATES.filter((state) => !FINISHED.has(state));
const BEFORE_COMMIT = UNFINISHED_DEPLOYS.filter((state) => !isCommitted({ state }));

export function controlReader({ db }: Scope): ControlReader {
  return {
    async workOf(control) {
      const withUnits = db.selectFrom('units').select('rollout');
      const rollouts = await db
        .selectFrom('rollouts')
        .select('id')
        .where('control', '=', control)
        .where((row) => row.or([row('state', 'in', UNFINISHED_ROLLOUTS), row('id', 'in', withUnits)]))
        .execute();
      const deploys = await db
        .selectFrom('deploys')
        .select('id')
        .where('control', '=', control)
        .where('state', 'in', UNFINISHED_DEPLOYS)
        .execute();
      return { rollouts: new Set(rollouts.map(({ id }) => id)), deploys: new Set(deploys.map(({ id }) => id)) };
    },
    async controlOfRollout(id) {
      const row = await db.selectFrom('rollouts').select('control').where('id', '=', id).executeTakeFirst();
      return row?.control ?? null;
    },
    async controlOfDeploy(id) {
      const row = await db.selectFrom('deploys').select('control').where('id', '=', id).executeTakeFirst();
      return row?.control ?? null;
    },
    async deployTurns(app) {
      const rows = await db
        .selectFrom('deploys')
        .select(['id', 'control', 'state', 'actor', 'ref', 'replaced_by'])
        .where('app', '=', app)
        .where('state', 'in', BEFORE_COMMIT)
        .where('turn', '>', 0)
        .orderBy('turn')
        .execute();
      return rows.map(({ id, control, state, actor, ref, replaced_by }) => ({
        ...{ id, control, state: state as DeployState, by: actor, ref, replacedBy: replaced_by },
      }));
    },
  };
}

export function controlWriter(scope: Scope): ControlWriter {
  const { db, kind } = scope;
  return {
    async claimRollout(id, control) {
      await db.updateTable('rollouts').set({ control }).where('id', '=', id).execute();
    },
    async claimDeploy(id, control) {
      await db.updateTable('deploys').set({ control }).where('id', '=', id).execute();
    },
    async queueDeploy(id, ref) {
      const own = db.selectFrom('deploys').select('app').where('id', '=', id);
      const last = await db
        .selectFrom('deploys')
        .select((row) => row.fn.max('turn').as('turn'))
        .where('app', 'in', own)
        .where('state', 'in', BEFORE_COMMIT)
        .executeTakeFirst();
      const turn = (last?.turn ?? 0) + 1;
      await db.updateTable('deploys').set({ turn, ref }).where('id', '=', id).execute();
    },
    async replaceDeploy(id, by) {
      await db.updateTable('deploys').set({ replaced_by: by }).where('id', '=', id).execute();
    },
    async handOver(from, to) {
      const work = await controlReader(scope).workOf(from);
      for (const table of ['rollouts', 'deploys'] as const) {
        const ids = listOf(kind, [...work[table]]);
        await db.updateTable(table).set({ control: to }).where('id', 'in', ids).execute();
      }
      return work;
    },
  };
}
