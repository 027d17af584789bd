/** Use cases of apps (specification 4.1): create, list, info, remove, restart. */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { type Subject, demand } from '../access.ts';
import type { Act } from '../act.ts';
import { type Caller, callerName } from '../caller.ts';
import type { Builder } from '../deploys/builder.ts';
import type { GitHost } from '../deploys/git-host.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { defaultPlan, demandPlan } from '../plans/demand-plan.ts';
import { builtInPlan, type Plan } from '../plans/plan.ts';
import { demandPlatform } from '../platforms/demand-platform.ts';
import { demandUsablePool } from '../pools/demand-pool.ts';
import { DEFAULT_POOL } from '../pools/pool.ts';
import { reserveApp } from '../quotas/quota.ts';
import type { Say } from '../say.ts';
import { appAddress, appUrl, type Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { type App, checkAppName, hostLabel, NEW_APP } from './app.ts';
import { labelsOf } from './host-names.ts';
import { checkDescription, teamsOfNewApp } from './app-fields.ts';
import { demandApp } from '../demand-app.ts';
import { demandProcess, demandRelease } from './demand-release.ts';
import { isSameAround, planAndPool, withSurroundings } from './next-release.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { Removal } from './removal.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import type { Routes } from '../routes/routes.ts';
import { appState, servingUnits, type Unit } from '../units/unit.ts';
import { unitProblems } from '../units/unit-problems.ts';
import { type Around, StandingViews } from './standing-views.ts';
import type { VolumeWatch } from '../disk/volume-watch.ts';

export interface AppView {
  readonly app: App;
  readonly units: readonly Unit[];
  /** One of the app states of appState(). */
  readonly state: string;
  /** `ssh://git@<host>:<port>/<app>.git` */
  readonly repositoryUrl: string;
  /** Host and port where the app answers, e.g. `shop.localhost:8000`. */
  readonly address: string;
  /** The same as a URL: by HTTPS as soon as there is a certificate for it. Absent where nobody knows. */
  readonly url?: string;
  /** Where its other routed processes answer, in order of their names. */
  readonly processUrls?: readonly { readonly process: string; readonly url: string }[];
  /** The IP address that its host names lead to. */
  readonly ip: string;
  /** What is wrong with its units, for people; empty when they are well. */
  readonly problems: readonly string[];
  /** Of one app only, not in lists. */
  readonly plan?: Plan;
  /** Apps that are linked to it, sorted; of one app only. */
  readonly linkedFrom?: readonly string[];
}

interface NewApp {
  readonly name: unknown;
  readonly platform: unknown;
  /** Absent: all teams of the caller have access, and the first of them owns it. */
  readonly teamOwner?: unknown;
  readonly description?: unknown;
  /** Absent: the default one. */
  readonly pool?: unknown;
  /** Absent: the default one. */
  readonly plan?: unknown;
}

export interface AppFilter {
  /** Part of the name. */
  readonly name?: string;
  readonly platform?: string;
  readonly owner?: string;
  readonly teamOwner?: string;
  readonly pool?: string;
  /** Those with a unit in one of these states. */
  readonly states?: readonly string[];
}

export interface Apps {
  /**
   * Errors: app.invalid_name, app.name_taken, platform.not_found, platform.disabled, pool.not_found, plan.not_found, team.required, team.ambiguous, team.not_found,
   * quota.exceeded.
   */
  create(caller: Caller, input: NewApp): Promise<AppView>;
  /** Sorted by name; only those the caller may see. A view that is as it was the last time is the same object. */
  list(caller: Caller, filter?: AppFilter): Promise<AppView[]>;
  info(caller: Caller, name: string): Promise<AppView>;
  /** Errors: app.swapped, unless `force`: then the other app gets its own address back. */
  remove(caller: Caller, name: string, say: Say, force?: boolean): Promise<void>;
  /**
   * New units of the same release, switched without a failed request; changes of the environment that were to wait for a restart
   * take effect. With a process only its units are replaced, by equal ones. Without code there is nothing to do, and it says so.
   * Errors: app.not_deployed for a process of an app without code, app.stopped, process.not_found, unit.failed.
   */
  restart(caller: Caller, name: string, say: Say, process?: string): Promise<void>;
}

interface AppsDeps {
  readonly store: Store;
  readonly builder: Builder;
  readonly gitHost: GitHost;
  readonly rollouts: Rollouts;
  readonly removal: Removal;
  readonly routes: Routes;
  readonly journal: Journal;
  readonly act: Act;
  readonly volumeWatch: Pick<VolumeWatch, 'problemsOf'>;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
}

const NO_UNITS: readonly Unit[] = [];
const RESERVED: ReadonlySet<string> = new Set(['tancho', 'tsr']);

/** The name before the platform's domain that is the API's would be no app's to answer at. */
function reservedNames({ domain, apiDomain }: Settings): ReadonlySet<string> {
  return apiDomain.endsWith(`.${domain}`) ? new Set([...RESERVED, apiDomain.slice(0, -domain.length - 1)]) : RESERVED;
}

export function createApps(deps: AppsDeps): Apps {
  const { store, builder, gitHost, rollouts, removal, routes, journal, act, volumeWatch, settings, logger, now } = deps;

  function aroundOf(app: App): Around {
    return {
      repositoryUrl: `ssh://git@${settings.sshAddress()}/${app.name}.git`,
      address: appAddress(hostLabel(app), settings),
      url: appUrl(hostLabel(app), settings),
      processUrls: app.routedProcesses.map((process) => ({ process, url: appUrl(labelsOf(app, process), settings) })),
      ip: settings.publicAddress(),
      volumeProblems: volumeWatch.problemsOf(app.name),
    };
  }

  function view(app: App, units: readonly Unit[], { volumeProblems, ...around } = aroundOf(app)): AppView {
    const serving = servingUnits(app, units);
    return {
      app,
      units: serving,
      state: appState(serving, app.desired, app.release !== null),
      problems: [...unitProblems(serving, now()), ...volumeProblems],
      ...around,
    };
  }

  const standing = new StandingViews();

  return {
    async create(caller, input) {
      demand(caller, 'app.create');
      const name = checkAppName(input.name, reservedNames(settings));
      const builtIn = await builder.platformNames();
      const platform = await demandPlatform({ store, builtIn }, input.platform);
      const { teamOwner, teams } = await teamsOfNewApp(store, caller, input.teamOwner);
      const pool = await demandUsablePool(store, input.pool ?? DEFAULT_POOL.name, teamOwner);
      const app: App = {
        ...NEW_APP,
        name,
        platform,
        owner: callerName(caller),
        teamOwner,
        teams,
        pool: pool.name,
        plan: await (input.plan === undefined ? defaultPlan(store) : demandPlan(store, input.plan)),
        description: checkDescription(input.description),
        createdAt: now().toISOString(),
      };
      await act(
        caller,
        'app.create',
        {},
        { target: `app:${name}`, lease: `app:${name}`, detail: platform },
        async () => {
          // What an earlier app of this name may have left is not the new one's.
          if ((await store.app(name)) === null) await gitHost.remove(name);
          await store.transact(async (tx) => {
            if (caller.kind === 'user') await reserveApp(tx, app.owner, settings.defaultLimits);
            // Judged once more where nobody can take them away in between.
            await demandPlatform({ store: tx, builtIn }, app.platform);
            await demandUsablePool(tx, app.pool, app.teamOwner);
            await demandPlan(tx, app.plan);
            await tx.insertApp(app);
          });
          try {
            await gitHost.create(name);
          } catch (error) {
            await bestEffort(logger, `taking back ${name}`, () => removal.remove(name));
            throw error;
          }
        },
      );
      await routes.publishStored(name);
      await journal.note(name, `created by ${callerName(caller)} on platform ${platform}`);
      return view(app, []);
    },

    async list(caller, filter = {}) {
      demand(caller, 'app.list');
      const teams = caller.kind === 'user' && !caller.isAdmin ? caller.teams : undefined;
      const [apps, units] = await Promise.all([store.apps(teams), store.unitsByApp(teams)]);
      const shown = apps.filter((app) => !app.removing && isMatch(app, filter));
      const views = shown.map((app) => {
        const [own, around] = [units.get(app.name) ?? NO_UNITS, aroundOf(app)];
        return standing.of(app, own, around, () => view(app, own, around));
      });
      const { states } = filter;
      return states === undefined
        ? views
        : views.filter(({ units }) => units.some(({ state }) => states.includes(state)));
    },

    async info(caller, name) {
      const app = await demandApp(store, name);
      demand(caller, 'app.info', { app });
      const plans = await store.plans();
      const builtIn = builtInPlan(settings.unitLimits, !plans.some((plan) => plan.isDefault));
      const plan = plans.find((one) => one.name === app.plan) ?? builtIn;
      const linked = (await store.apps()).filter(({ links, removing }) => !removing && links.includes(name));
      return { ...view(app, await store.units(name)), plan, linkedFrom: linked.map((other) => other.name) };
    },

    async remove(caller, name, say, force = false) {
      // One whose removal failed half-way is gone for everybody, but its removal can be repeated.
      const app = (await store.app(name)) ?? (await demandApp(store, name));
      await act(caller, 'app.remove', { app }, { target: `app:${name}`, lease: `app:${name}` }, async () => {
        const current = (await store.app(name)) ?? (await demandApp(store, name));
        if (!force) demandOwnAddress(current);
        say(`---- Removing application "${name}"...`);
        for (const volume of await store.volumes(name)) say(`       with its volume ${volume.name} and what it holds`);
        await removal.remove(name);
        say('---- Done removing application.');
      });
    },

    async restart(caller, name, say, process = '') {
      const app = await demandApp(store, name);
      const subject: Subject = { app };
      await act(caller, 'app.restart', subject, { target: `app:${name}`, lease: `app:${name}` }, async () => {
        const current = await demandApp(store, name);
        const none = `App ${name} has not been deployed yet, there is nothing to restart.`;
        // Specification 4.1 knows no restart that is refused, and here nothing is left undone.
        if (process === '' && current.release === null) return say(none);
        const serving = await demandRelease(store, current, none);
        const replaced = process === '' ? {} : { replaced: [demandProcess(serving, process)] };
        demandRunning(current, process);
        say(`---- Restarting ${process === '' ? '' : `the process "${process}" of `}the app "${name}" ----`);
        const by = callerName(caller);
        const env = await store.env(name);
        // Beside units that stay there can be no other environment or limits than theirs.
        const around = { env, ...(await planAndPool(store, current)) };
        const isSame = process !== '' || isSameAround(around, serving);
        const release = isSame ? serving : withSurroundings(serving, { ...around, reason: 'env', by, at: now() });
        await replaceUnits(rollouts, { app: current, release, ...replaced, reason: 'restart', by, say });
        await journal.note(name, `restarted by ${by}`);
      });
    },
  };
}

function isMatch(app: App, { name, platform, owner, teamOwner, pool }: AppFilter): boolean {
  const isSame = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value;
  return (
    (name === undefined || app.name.includes(name)) &&
    isSame(platform, app.platform) &&
    isSame(owner, app.owner) &&
    isSame(teamOwner, app.teamOwner) &&
    isSame(pool, app.pool)
  );
}

function demandOwnAddress(app: App): void {
  if (app.swappedWith === null) return;
  throw new PlatformError('app.swapped', `application is swapped with "${app.swappedWith}", cannot remove it`, {
    hint: `Swap it back first (tancho app swap ${app.name} ${app.swappedWith}), or remove it with force.`,
  });
}

function demandRunning(app: App, process: string): void {
  if (app.desired === 'running' && !app.stoppedProcesses.includes(process)) return;
  const what = app.desired === 'stopped' ? `The app ${app.name}` : `The process ${process} of ${app.name}`;
  throw new PlatformError('app.stopped', `${what} is stopped, there is nothing to restart.`, {
    hint: `To start it: tancho app start ${app.name}`,
  });
}
