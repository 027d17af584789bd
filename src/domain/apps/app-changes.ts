/** Use cases of an app's own record: description, platform, pool, plan, the teams that have access and the one that owns it. */
import type { Act } from '../act.ts';
import { type Action, demand } from '../access.ts';
import { type Caller, callerName } from '../caller.ts';
import type { Builder } from '../deploys/builder.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { demandPlan } from '../plans/demand-plan.ts';
import { demandPlatform } from '../platforms/demand-platform.ts';
import { demandUsablePool } from '../pools/demand-pool.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import type { Engines } from '../units/engines.ts';
import { demandTeam } from '../teams/demand-team.ts';
import { checkDescription, demandOwner } from './app-fields.ts';
import { changedSettings, type SettingsChange } from './app-settings.ts';
import { createAppEdit, type Edit, type MakeEdit } from './app-edit.ts';
import { demandApp } from '../demand-app.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';

/** Absent: as before. Settings are in effect with the next deploy. */
export interface AppChange extends SettingsChange {
  readonly description?: unknown;
  /** The next deploy is built for it. */
  readonly platform?: unknown;
  /** One of the caller's own teams; it gets access, too. */
  readonly teamOwner?: unknown;
  /** One that the team that owns the app may use; what runs is replaced by units there. */
  readonly pool?: unknown;
  /** What runs is replaced by units with its limits. */
  readonly plan?: unknown;
}

export interface AppChanges {
  /**
   * All of it or nothing. Errors: platform.not_found, platform.disabled, team.not_found, pool.not_found, plan.not_found, input.invalid for
   * empty names; for another plan or pool of a running app also quota.exceeded, unit.failed; unsupported for what cannot be moved.
   */
  change(caller: Caller, app: string, change: AppChange, say?: Say): Promise<void>;
  /** Throws what change() would throw before it begins anything; nothing is changed. */
  judge(caller: Caller, app: string, change: AppChange): Promise<void>;
  /** Gives a team access. Errors: team.not_found, team.access_exists. */
  grant(caller: Caller, app: string, team: string): Promise<void>;
  /** Takes it away again. Errors: team.not_found, team.access_missing; team.owns_app for the team that owns it. */
  revoke(caller: Caller, app: string, team: string): Promise<void>;
}

interface AppChangesDeps {
  readonly store: Store;
  readonly builder: Builder;
  readonly rollouts: Rollouts;
  readonly provisioner: Pick<Engines, 'at'>;
  readonly journal: Journal;
  readonly act: Act;
  readonly now: () => Date;
}

export function createAppChanges(deps: AppChangesDeps): AppChanges {
  const { store, builder, rollouts, provisioner, journal, act, now } = deps;
  const { apply, judge } = createAppEdit({ store, rollouts, engines: provisioner, now });

  async function edit(
    caller: Caller,
    action: Action,
    name: string,
    detail: string,
    make: MakeEdit,
    say: Say = () => {},
  ): Promise<void> {
    const app = await demandApp(store, name);
    const options = { target: `app:${name}`, lease: `app:${name}`, detail: detail.slice(0, 200) };
    await act(caller, action, { app }, options, async () => {
      await apply(name, make, callerName(caller), say);
      await journal.note(name, `${callerName(caller)} changed it (${action.replace('app.', '')} ${detail})`);
    });
  }

  async function editOf(caller: Caller, name: string, change: AppChange): Promise<MakeEdit> {
    const app = await demandApp(store, name);
    demand(caller, 'app.update', { app });
    demandNames(change);
    const { description, platform, teamOwner, pool, plan } = change;
    const fields: Edit = { ...(description !== undefined && { description: checkDescription(description) }) };
    const builtIn = platform === undefined ? null : await builder.platformNames();
    if (builtIn !== null) await demandPlatform({ store, builtIn }, platform);
    return async (current, tx) => {
      const owner = teamOwner === undefined ? current.teamOwner : (await demandOwner(tx, caller, teamOwner)).name;
      const teams = [...new Set([...current.teams, owner])].sort();
      const moved = pool === undefined ? current.pool : (await demandUsablePool(tx, pool, owner)).name;
      const planned = plan === undefined ? current.plan : await demandPlan(tx, plan);
      const source = builtIn === null ? null : { store: tx, builtIn };
      const built = source === null ? current.platform : await demandPlatform(source, platform);
      const settings = changedSettings(current.settings, change);
      return { ...fields, settings, platform: built, teamOwner: owner, teams, pool: moved, plan: planned };
    };
  }

  return {
    async change(caller, name, change, say) {
      const make = await editOf(caller, name, change);
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      await edit(caller, 'app.update', name, given.map(([field]) => field).join(' '), make, say);
    },

    judge: async (caller, name, change) => judge(name, await editOf(caller, name, change)),

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

function demandNames(change: AppChange): void {
  const field = (['platform', 'teamOwner', 'pool', 'plan'] as const).find((name) => change[name] === '');
  if (field === undefined) return;
  throw new PlatformError('input.invalid', `"${field}" is empty.`, {
    hint: 'Send the name of the one that is wanted.',
  });
}
