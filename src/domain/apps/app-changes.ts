/** Use cases of an app's own record: description, platform, pool, the teams that have access and the one that owns it. */
import type { Act } from '../act.ts';
import { type Action, demand } from '../access.ts';
import { type Caller, callerName } from '../caller.ts';
import type { Builder } from '../deploys/builder.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { demandUsablePool } from '../pools/demand-pool.ts';
import type { Store, StoreWriter } from '../store.ts';
import { checkDescription, checkPlatform, demandOwner } from './app-fields.ts';
import type { App } from './app.ts';
import { demandApp } from './demand-app.ts';

/** Absent: as before. */
export interface AppChange {
  readonly description?: unknown;
  /** The next deploy is built for it. */
  readonly platform?: unknown;
  /** One of the caller's own teams; it gets access, too. */
  readonly teamOwner?: unknown;
  /** One that the team that owns the app may use. */
  readonly pool?: unknown;
}

export interface AppChanges {
  /** All of it or nothing. Errors: platform.not_found, team.not_found, pool.not_found. */
  change(caller: Caller, app: string, change: AppChange): Promise<void>;
  /** Gives a team access. Errors: team.not_found, team.access_exists. */
  grant(caller: Caller, app: string, team: string): Promise<void>;
  /** Takes it away again. Errors: team.not_found, team.access_missing; team.owns_app for the team that owns it. */
  revoke(caller: Caller, app: string, team: string): Promise<void>;
}

export interface AppChangesDeps {
  readonly store: Store;
  readonly builder: Builder;
  readonly journal: Journal;
  readonly act: Act;
}

type Edit = Partial<Pick<App, 'description' | 'platform' | 'teamOwner' | 'teams' | 'pool'>>;

export function createAppChanges({ store, builder, journal, act }: AppChangesDeps): AppChanges {
  async function edit(
    caller: Caller,
    action: Action,
    name: string,
    detail: string,
    make: (app: App, tx: StoreWriter) => Promise<Edit>,
  ): Promise<void> {
    const app = await demandApp(store, name);
    const options = { target: `app:${name}`, lease: `app:${name}`, detail: detail.slice(0, 200) };
    await act(caller, action, { app }, options, async () => {
      await store.transact(async (tx) => {
        const current = await demandApp(tx, name);
        await tx.updateApp(name, await make(current, tx));
      });
      await journal.note(name, `${callerName(caller)} changed it (${action.replace('app.', '')} ${detail})`);
    });
  }

  return {
    async change(caller, name, change) {
      const app = await demandApp(store, name);
      demand(caller, 'app.update', { app });
      const { description, platform, teamOwner, pool } = change;
      const fields: Edit = {
        ...(description !== undefined && { description: checkDescription(description) }),
        ...(platform !== undefined && { platform: await checkPlatform(builder, platform) }),
      };
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      const detail = given.map(([field]) => field).join(' ');
      await edit(caller, 'app.update', name, detail, async (current, tx) => {
        const owner = teamOwner === undefined ? current.teamOwner : (await demandOwner(tx, caller, teamOwner)).name;
        const teams = [...new Set([...current.teams, owner])].sort();
        const moved = pool === undefined ? current.pool : (await demandUsablePool(tx, pool, owner)).name;
        return { ...fields, teamOwner: owner, teams, pool: moved };
      });
    },

    grant: (caller, name, team) =>
      edit(caller, 'app.grant', name, team, async (app, tx) => {
        await demandTeam(tx, team);
        if (!app.teams.includes(team)) return { teams: [...app.teams, team] };
        throw new PlatformError('team.access_exists', 'This team already has access to this app');
      }),

    revoke: (caller, name, team) =>
      edit(caller, 'app.revoke', name, team, async (app, tx) => {
        await demandTeam(tx, team);
        if (!app.teams.includes(team)) {
          throw new PlatformError('team.access_missing', 'This team does not have access to this app', {
            hint: `Those with access: ${app.teams.join(', ')}.`,
          });
        }
        if (team === app.teamOwner) {
          throw new PlatformError('team.owns_app', `The team ${team} owns this app and keeps its access.`, {
            hint: `Make another team its owner first: tancho app update ${app.name} --team <team>`,
          });
        }
        return { teams: app.teams.filter((other) => other !== team) };
      }),
  };
}

async function demandTeam(tx: Pick<StoreWriter, 'team'>, name: string): Promise<void> {
  if ((await tx.team(name)) !== null) return;
  throw new PlatformError('team.not_found', 'Team not found', { hint: 'Check the spelling of its name.' });
}
