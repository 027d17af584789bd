import type { App } from '../../../domain/apps/app.ts';
import { type AppSettings, NO_SETTINGS } from '../../../domain/apps/app-settings.ts';
import { DEFAULT_EDGE, EDGE_SETTINGS, type EdgeSettings } from '../../../domain/apps/edge-settings.ts';
import type { AppReader, AppWriter } from '../../../domain/apps/app-store.ts';
import { PlatformError } from '../../../domain/errors.ts';
import { listOf } from '../../../sql/list-of.ts';
import { appNotFound, needing, teamsNotFound } from './faults.ts';
import { readAll } from './changed-groups.ts';
import { flat, groupText, KnownGroups, rowsOf } from './known-groups.ts';
import type { AppsTable, Scope } from './schema.ts';
import { teamsIn, teamsJson } from './teams-json.ts';

const COLUMNS = [
  ...[
    'name',
    'platform',
    'owner',
    'team_owner',
    'pool',
    'plan',
    'description',
    'cname_json',
    'links_json',
    'created_at',
  ],
  ...['release', 'rollout', 'desired', 'deploys', 'removing', 'stopped_processes_json', 'routed_processes_json'],
  ...['swapped_with', 'settings_json', 'edge_json', 'custom_data_json', 'teams_json'],
];

export function knownApps(): KnownGroups<App> {
  return new KnownGroups((text) => rowsOf<AppRow>(text, COLUMNS).map(fromRow));
}

export function appReader(scope: Scope): Pick<AppReader, 'app' | 'apps'> {
  const { db, kind, known } = scope;
  const teams_json = teamsJson(kind, { named: 'app_teams.app', row: 'apps.name' }).as('teams_json');
  const rows = (from = db) =>
    from.selectFrom((all) => all.selectFrom('apps').selectAll().select(teams_json).as('apps'));
  return {
    async app(name) {
      const row = await rows().selectAll().where('name', '=', name).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async apps(teams) {
      const groups = (from: Scope['db']) =>
        rows(from)
          .select(['apps.name', groupText(kind, COLUMNS).as('text')])
          .groupBy('apps.name')
          .orderBy('apps.name');
      if (teams !== undefined) {
        const shared = db.selectFrom('app_teams').select('app').where('team', 'in', listOf(kind, teams));
        return flat(known.apps.of(await groups(db).where('apps.name', 'in', shared).execute()));
      }
      const all = await readAll(scope, {
        noted: 'changed_apps',
        known: known.apps,
        read: (from, names) =>
          (names === undefined ? groups(from) : groups(from).where('apps.name', 'in', listOf(kind, names))).execute(),
      });
      return flat(all);
    },
  };
}

export function appWriter({ db }: Scope): Pick<AppWriter, 'insertApp' | 'updateApp' | 'deleteApp'> {
  const insertTeams = async (app: string, teams: readonly string[]): Promise<void> => {
    if (teams.length === 0) return;
    const values = [...new Set(teams)].map((team) => ({ app, team }));
    await needing(() => teamsNotFound(teams), db.insertInto('app_teams').values(values).execute());
  };
  return {
    async insertApp(app) {
      const row = { ...toRow(app), name: app.name, created_at: app.createdAt };
      const done = await db
        .insertInto('apps')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('app.name_taken', `There is already an app called ${app.name}.`, {
          hint: 'Choose another name.',
        });
      }
      await insertTeams(app.name, app.teams);
    },
    async updateApp(name, change) {
      const { teams, ...columns } = change;
      if (Object.keys(columns).length > 0) {
        const done = await db.updateTable('apps').set(toRow(columns)).where('name', '=', name).executeTakeFirst();
        if (done.numUpdatedRows === 0n) throw appNotFound(name);
      }
      if (teams !== undefined) {
        const known = await db.selectFrom('apps').select('name').where('name', '=', name).executeTakeFirst();
        if (known === undefined) throw appNotFound(name);
        await db.deleteFrom('app_teams').where('app', '=', name).execute();
        await insertTeams(name, teams);
      }
    },
    async deleteApp(name) {
      await db
        .updateTable('deploys')
        .set({ removed_at: new Date().toISOString() })
        .where('app', '=', name)
        .where('removed_at', 'is', null)
        .execute();
      await db.deleteFrom('apps').where('name', '=', name).execute();
    },
  };
}

type Changeable = Omit<App, 'name' | 'createdAt' | 'teams'>;
type ChangeableColumns = Omit<AppsTable, 'name' | 'created_at'>;

function toRow(app: Changeable): ChangeableColumns;
function toRow(change: Partial<Changeable>): { [C in keyof ChangeableColumns]: ChangeableColumns[C] | undefined };
function toRow(app: Partial<Changeable>): { [C in keyof ChangeableColumns]: ChangeableColumns[C] | undefined } {
  return {
    platform: app.platform,
    owner: app.owner,
    team_owner: app.teamOwner,
    pool: app.pool,
    description: app.description,
    cname_json: app.cname && JSON.stringify([...app.cname].sort()),
    links_json: app.links && JSON.stringify([...app.links].sort()),
    release: app.release,
    rollout: app.rollout,
    desired: app.desired,
    deploys: app.deploys,
    removing: app.removing === undefined ? undefined : Number(app.removing),
    stopped_processes_json: app.stoppedProcesses && JSON.stringify([...app.stoppedProcesses].sort()),
    routed_processes_json: app.routedProcesses && JSON.stringify([...app.routedProcesses].sort()),
    swapped_with: app.swappedWith,
    plan: app.plan,
    custom_data_json: app.customData && JSON.stringify(app.customData),
    settings_json: app.settings === NO_SETTINGS ? null : app.settings && JSON.stringify(app.settings),
    edge_json: app.edge && edgeToJson(app.edge),
  };
}

type AppRow = AppsTable & { readonly teams_json: string };

export function settingsOf(json: string | null): AppSettings {
  return json === null ? NO_SETTINGS : { ...NO_SETTINGS, ...(JSON.parse(json) as Partial<AppSettings>) };
}

/** What is as it is by itself is left out: a later version may have another default. */
function edgeToJson(edge: EdgeSettings): string | null {
  const set = EDGE_SETTINGS.filter((name) => edge[name] !== DEFAULT_EDGE[name]);
  return set.length === 0 ? null : JSON.stringify(Object.fromEntries(set.map((name) => [name, edge[name]])));
}

function edgeOf(json: string | null): EdgeSettings {
  return json === null ? DEFAULT_EDGE : { ...DEFAULT_EDGE, ...(JSON.parse(json) as Partial<EdgeSettings>) };
}

function fromRow(row: AppRow): App {
  return {
    name: row.name,
    platform: row.platform,
    owner: row.owner,
    teamOwner: row.team_owner,
    teams: teamsIn(row.teams_json),
    pool: row.pool,
    plan: row.plan,
    description: row.description,
    cname: JSON.parse(row.cname_json) as string[],
    links: JSON.parse(row.links_json) as string[],
    createdAt: row.created_at,
    release: row.release,
    rollout: row.rollout,
    desired: row.desired as App['desired'],
    deploys: row.deploys,
    removing: row.removing === 1,
    stoppedProcesses: JSON.parse(row.stopped_processes_json) as string[],
    routedProcesses: JSON.parse(row.routed_processes_json) as string[],
    swappedWith: row.swapped_with,
    settings: settingsOf(row.settings_json),
    edge: edgeOf(row.edge_json),
    customData: row.custom_data_json === null ? null : (JSON.parse(row.custom_data_json) as Record<string, unknown>),
  };
}
