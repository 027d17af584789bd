import type { FailureCause } from '../../../domain/failure.ts';
import { DEPLOY_STATES, FINISHED } from '../../../domain/deploys/deploy.ts';
import type { Deploy, DeployOrigin, DeployState } from '../../../domain/deploys/deploy.ts';
import type { DeployReader, DeployWriter } from '../../../domain/deploys/deploy-store.ts';
import { listOf } from '../../../sql/list-of.ts';
import { deployNotFound, needing } from './faults.ts';
import type { DeploysTable, Scope } from './schema.ts';

const UNFINISHED = DEPLOY_STATES.filter((state) => !FINISHED.has(state));

export function deployReader({ db, kind }: Scope): DeployReader {
  return {
    async deploy(id) {
      const row = await db.selectFrom('deploys').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async deploys({ apps, limit, skip }) {
      let query = db
        .selectFrom('deploys')
        .selectAll()
        .where('removed_at', 'is', null)
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(skip);
      if (apps !== undefined) query = query.where('app', 'in', listOf(kind, apps));
      return (await query.execute()).map(fromRow);
    },
    async unfinishedDeploys() {
      const rows = await db.selectFrom('deploys').selectAll().where('state', 'in', UNFINISHED).orderBy('id').execute();
      return rows.map(fromRow);
    },
    async deployLog(id) {
      const rows = await db
        .selectFrom('deploy_log')
        .select('lines_json')
        .where('deploy_id', '=', id)
        .orderBy('chunk')
        .execute();
      return rows.flatMap((row) => JSON.parse(row.lines_json) as string[]);
    },
    async appsOfManyDeploys(keep) {
      const counted = db.selectFrom('deploys').select('app').groupBy('app');
      const rows = await counted
        .having((row) => row.fn.countAll(), '>', keep)
        .orderBy('app')
        .execute();
      return rows.map(({ app }) => app);
    },
    async oldDeploys(app, { which, keep, limit }) {
      const own = db.selectFrom('deploys').select('deploys.id').where('deploys.app', '=', app);
      const newest = await own.orderBy('deploys.id', 'desc').offset(keep).limit(1).executeTakeFirst();
      if (newest === undefined) return [];
      const rows = await own
        .where('deploys.id', '<=', newest.id)
        .where('deploys.state', 'not in', UNFINISHED)
        .where(({ exists, not, selectFrom }) => {
          const logs = selectFrom('deploy_log').select('chunk').whereRef('deploy_log.deploy_id', '=', 'deploys.id');
          const releases = selectFrom('releases').select('number').whereRef('releases.app', '=', 'deploys.app');
          return which === 'logged' ? exists(logs) : not(exists(releases.whereRef('deploy_id', '=', 'deploys.id')));
        })
        .orderBy('deploys.id')
        .limit(limit)
        .execute();
      return rows.map(({ id }) => id);
    },
  };
}

export function deployWriter({ db, kind }: Scope): DeployWriter {
  return {
    async insertDeploy(deploy) {
      await db
        .insertInto('deploys')
        .values({ ...toRow(deploy), id: deploy.id, app: deploy.app })
        .execute();
    },
    async updateDeploy(id, change) {
      if (Object.keys(change).length === 0) return;
      const done = await db.updateTable('deploys').set(toRow(change)).where('id', '=', id).executeTakeFirst();
      if (done.numUpdatedRows === 0n) throw deployNotFound(id);
    },
    async appendDeployLog(id, lines) {
      if (lines.length === 0) return;
      const last = await db
        .selectFrom('deploy_log')
        .select((row) => row.fn.max('chunk').as('chunk'))
        .where('deploy_id', '=', id)
        .executeTakeFirst();
      const chunk = (last?.chunk ?? 0) + 1;
      const row = { deploy_id: id, chunk, lines_json: JSON.stringify(lines) };
      await needing(() => deployNotFound(id), db.insertInto('deploy_log').values(row).execute());
    },
    async deleteDeployLogs(ids) {
      await db.deleteFrom('deploy_log').where('deploy_id', 'in', listOf(kind, ids)).execute();
    },
    async deleteDeploys(ids) {
      const named = db.selectFrom('releases').select('deploy_id').where('deploy_id', 'in', listOf(kind, ids));
      const deploys = db.deleteFrom('deploys').where('id', 'in', listOf(kind, ids));
      // Their logs go with them.
      await deploys.where('id', 'not in', named.$castTo<{ deploy_id: string }>()).execute();
    },
  };
}

type Changeable = Omit<Deploy, 'id' | 'app'>;
/** Of the order among several controls. */
type OrderColumns = 'control' | 'turn' | 'ref' | 'replaced_by';
type ChangeableColumns = Omit<DeploysTable, 'id' | 'app' | OrderColumns>;

function toRow(deploy: Changeable): ChangeableColumns;
function toRow(change: Partial<Changeable>): { [C in keyof ChangeableColumns]: ChangeableColumns[C] | undefined };
function toRow(deploy: Partial<Changeable>): { [C in keyof ChangeableColumns]: ChangeableColumns[C] | undefined } {
  return {
    state: deploy.state,
    commit_id: deploy.commit,
    origin: deploy.origin,
    actor: deploy.by,
    started_at: deploy.startedAt,
    finished_at: deploy.finishedAt,
    duration_ms: deploy.durationMs === undefined ? undefined : Math.round(deploy.durationMs),
    release: deploy.release,
    artifact: deploy.artifact,
    image: deploy.image,
    cause: deploy.cause,
    // May quote what the user's program printed.
    error: deploy.error?.replaceAll('\0', '\uFFFD'),
    warning: deploy.warning,
    phases_json: deploy.phases && JSON.stringify(deploy.phases),
    failed_requests: deploy.failedRequests,
    removed_at: deploy.removedAt,
  };
}

function fromRow(row: Omit<DeploysTable, OrderColumns>): Deploy {
  return {
    id: row.id,
    app: row.app,
    state: row.state as DeployState,
    commit: row.commit_id,
    origin: row.origin as DeployOrigin,
    by: row.actor,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    durationMs: row.duration_ms,
    release: row.release,
    artifact: row.artifact,
    image: row.image,
    cause: row.cause as FailureCause | null,
    error: row.error,
    warning: row.warning,
    phases: JSON.parse(row.phases_json) as Deploy['phases'],
    failedRequests: row.failed_requests,
    removedAt: row.removed_at,
  };
}
