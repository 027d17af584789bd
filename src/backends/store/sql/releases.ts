import type { Placement } from '../../../domain/pools/placement.ts';
import type { EnvVar, HealthCheck, Hooks, Release, UnitLimits } from '../../../domain/apps/app.ts';
import type { AppReader, AppWriter } from '../../../domain/apps/app-store.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { listOf } from '../../../sql/list-of.ts';
import type { Sealer } from '../../../lib/seal.ts';
import { settingsOf } from './apps.ts';
import { appNotFound, needing } from './faults.ts';
import type { ReleasesTable, Scope } from './schema.ts';

export function releaseReader({ db, kind, sealer }: Scope): Pick<AppReader, 'release' | 'releases' | 'artifacts'> {
  return {
    async release(app, number) {
      const row = await db
        .selectFrom('releases')
        .selectAll()
        .where('app', '=', app)
        .where('number', '=', number)
        .executeTakeFirst();
      return row === undefined ? null : fromRow(row, sealer);
    },
    async releases(app, limit) {
      const rows = await db
        .selectFrom('releases')
        .selectAll()
        .where('app', '=', app)
        .orderBy('number', 'desc')
        .limit(limit)
        .execute();
      return rows.map((row) => fromRow(row, sealer));
    },
    artifacts: (apps) =>
      db
        .selectFrom('releases')
        .select(['app', 'number as release', 'artifact', 'published'])
        .where('app', 'in', listOf(kind, apps))
        .execute(),
  };
}

export function releaseWriter({ db, sealer }: Scope): Pick<AppWriter, 'insertRelease' | 'deleteRelease'> {
  return {
    async insertRelease(release) {
      const { app, number } = release;
      const highest = await db
        .selectFrom('releases')
        .select((row) => row.fn.max('number').as('number'))
        .where('app', '=', app)
        .executeTakeFirst();
      if (number !== (highest?.number ?? 0) + 1) throw tooLate(app);
      const insert = db
        .insertInto('releases')
        .values(toRow(release, sealer))
        .onConflict((conflict) => conflict.doNothing());
      const done = await needing(() => appNotFound(app), insert.executeTakeFirst());
      if (done.numInsertedOrUpdatedRows !== 1n) throw tooLate(app);
    },
    async deleteRelease(app, number) {
      await db.deleteFrom('releases').where('app', '=', app).where('number', '=', number).execute();
    },
  };
}

function tooLate(app: string): PlatformError {
  return new PlatformError('app.busy', `App ${app} was changed by somebody else at the same time.`, {
    hint: 'Look at the app as it is now, then try again.',
  });
}

function context(app: string, number: number): string {
  return `release:${app}:${number}`;
}

function toRow(release: Release, sealer: Sealer): ReleasesTable {
  return {
    app: release.app,
    number: release.number,
    artifact: release.artifact,
    deploy_id: release.deployId,
    commit_id: release.commit,
    image: release.image,
    published: release.published,
    sealed_env: sealer.seal(JSON.stringify(release.env), context(release.app, release.number)),
    processes_json: JSON.stringify(release.processes),
    health_check_json: release.healthCheck && JSON.stringify(release.healthCheck),
    hooks_json: JSON.stringify(release.hooks),
    limits_json: release.limits && JSON.stringify(release.limits),
    placement_json: release.placement && JSON.stringify(release.placement),
    settings_json: JSON.stringify(release.settings),
    mounts_json: JSON.stringify(release.mounts),
    names_json: JSON.stringify(release.bindingNames),
    maintenance_page: release.maintenancePage,
    reason: release.reason,
    actor: release.by,
    created_at: release.createdAt,
  };
}

function fromRow(row: ReleasesTable, sealer: Sealer): Release {
  return {
    app: row.app,
    number: row.number,
    artifact: row.artifact,
    deployId: row.deploy_id,
    commit: row.commit_id,
    image: row.image,
    published: row.published,
    env: JSON.parse(sealer.open(row.sealed_env, context(row.app, row.number))) as EnvVar[],
    processes: JSON.parse(row.processes_json) as Release['processes'],
    healthCheck: row.health_check_json === null ? null : (JSON.parse(row.health_check_json) as HealthCheck),
    // Older ones know no release commands.
    hooks: { release: [], ...(JSON.parse(row.hooks_json) as Omit<Hooks, 'release'>) },
    limits: row.limits_json === null ? null : (JSON.parse(row.limits_json) as UnitLimits),
    placement: row.placement_json === null ? null : (JSON.parse(row.placement_json) as Placement),
    settings: settingsOf(row.settings_json),
    mounts: JSON.parse(row.mounts_json) as Release['mounts'],
    bindingNames: JSON.parse(row.names_json) as Release['bindingNames'],
    maintenancePage: row.maintenance_page,
    reason: row.reason,
    by: row.actor,
    createdAt: row.created_at,
  };
}
