/** Use cases of deploys (specification 4.10), and the entry of every door that brings code. */
import { timeOrderedId } from '../../lib/ids.ts';
import { demand, may } from '../access.ts';
import type { Act } from '../act.ts';
import type { Say } from '../say.ts';
import type { App, Release } from '../apps/app.ts';
import { demandApp } from '../apps/demand-app.ts';
import { demandRelease } from '../apps/demand-release.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Leases } from '../leases.ts';
import { limitsFor } from '../plans/demand-plan.ts';
import type { RestoreBindings, RestoredBindings } from '../services/restored-bindings.ts';
import type { Deploy, NewCode } from './deploy.ts';
import type { GitHost } from './git-host.ts';
import { closeInterrupted, type InterruptedDeps, isCommitted } from './interrupted.ts';
import type { Pipeline } from './pipeline.ts';
import { backTo, findRelease, pastArtifacts } from './rollback.ts';

const MAX_LIST = 1_000;
const LEASE_WAIT_MS = 30_000;

export interface ListedDeploy {
  readonly deploy: Deploy;
  /** Its code is kept, and other code serves. */
  readonly canRollback: boolean;
}

export interface DeployView extends ListedDeploy {
  readonly log: string;
  /** Unified diff to the deploy before; '' when there is none. */
  readonly diff: string;
}

export interface DeployQuery {
  readonly app?: string;
  readonly service?: string;
  readonly limit?: number;
  readonly skip?: number;
}

export interface Deploys {
  /** Newest first, of the apps the caller may see; with `service` of those that are bound to an instance of it. */
  list(caller: Caller, query: DeployQuery): Promise<ListedDeploy[]>;
  info(caller: Caller, id: string): Promise<DeployView>;
  /**
   * The whole way from source to serving; resolves when the new version answers. `say` gets every line meant for the
   * pusher. Throws PlatformError `deploy.failed` whose details.cause is a FailureCause and whose text was already said;
   * the old version then still serves.
   */
  deploy(caller: Caller, app: string, code: NewCode, say: Say, signal: AbortSignal): Promise<Deploy>;
  /**
   * A deploy whose release is equal to an older one: its code, environment, processes and what was bound. `image` as findRelease() takes it.
   * Errors: those of deploy, and app.not_deployed, release.not_found, provider.failed.
   */
  rollback(caller: Caller, app: string, image: string, say: Say): Promise<Deploy>;
}

interface Wanted {
  readonly caller: Caller;
  readonly app: App;
  readonly image: string;
  readonly say: Say;
}

export interface DeploysDeps extends InterruptedDeps {
  readonly gitHost: GitHost;
  readonly pipeline: Pipeline;
  readonly act: Act;
  readonly leases: Leases;
  readonly restore: RestoreBindings;
}

export function createDeploys(deps: DeploysDeps): Deploys {
  const { store, gitHost, pipeline, act, leases, restore, now } = deps;

  async function visibleApps(caller: Caller, name: string | undefined): Promise<string[] | undefined> {
    if (name !== undefined && name !== '') {
      const app = await demandApp(store, name);
      demand(caller, 'deploy.info', { app });
      return [app.name];
    }
    if (caller.kind === 'user' && !caller.isAdmin) return (await store.apps(caller.teams)).map((app) => app.name);
    return undefined;
  }

  async function boundTo(service: string): Promise<Set<string>> {
    const instances = new Set((await store.instances(service)).map(({ id }) => id));
    const bindings = (await store.bindings()).filter(({ instance }) => instances.has(instance));
    return new Set(bindings.filter(({ state }) => state === 'bound').map(({ app }) => app));
  }

  /** Without those that are gone. */
  async function appsOf(deploys: readonly Deploy[]): Promise<App[]> {
    const names = new Set(deploys.map((deploy) => deploy.app));
    const [only, ...others] = names;
    if (only === undefined) return [];
    if (others.length === 0) return [(await store.app(only)) ?? []].flat();
    return (await store.apps()).filter((app) => names.has(app.name));
  }

  async function previousCommit(deploy: Deploy): Promise<string> {
    const earlier = await store.deploys({ apps: [deploy.app], limit: MAX_LIST, skip: 0 });
    return earlier.find((other) => other.id < deploy.id && other.state === 'done' && other.commit !== '')?.commit ?? '';
  }

  /** Nobody but the holder of the app's lease runs a deploy of it, so those that are not committed were left behind. */
  async function closeAbandoned(app: string): Promise<void> {
    const open = (await store.unfinishedDeploys()).filter((deploy) => deploy.app === app && !isCommitted(deploy));
    for (const deploy of open) await closeInterrupted(deps, deploy);
  }

  function alone<T>(caller: Caller, app: string, work: () => Promise<T>): Promise<T> {
    const options = { waitMs: LEASE_WAIT_MS, holder: `app.rollback by ${callerName(caller)}` };
    return leases.hold(`app:${app}`, options, work);
  }

  /** Once nobody is at work on the app: `previous` is of the release that serves then. */
  function meant(caller: Caller, app: string, image: string): Promise<Release> {
    return alone(caller, app, async () => {
      const current = await demandApp(store, app);
      await demandRelease(store, current);
      return findRelease(store, current, image);
    });
  }

  function goBack({ caller, app, image, say }: Wanted, meantOne: Release, restored: RestoredBindings): Promise<Deploy> {
    const { name } = app;
    const by = callerName(caller);
    return alone(caller, name, async () => {
      const current = await demandApp(store, name);
      const old = await findRelease(store, current, image);
      if (old.number !== meantOne.number) throw changedMeanwhile(name);
      const deploy = newDeploy(name, { commit: old.commit, image: old.image, origin: 'rollback' }, by, now());
      const limits = await limitsFor(store, current);
      const env = await restored.env(old.env.filter((variable) => variable.managedBy === ''));
      const back = backTo(old, { env, limits, deployId: deploy.id, by, at: now() });
      await closeAbandoned(name);
      await store.transact((tx) => tx.insertDeploy(deploy));
      say(`---- Going back to release ${old.number} ----`);
      const { signal } = new AbortController();
      // Private values of either environment may be printed.
      const either = [...(await store.env(name)), ...env];
      return pipeline.run({
        deploy,
        app: current,
        env: either,
        what: { back, write: restored.write },
        by,
        say,
        signal,
      });
    });
  }

  return {
    async list(caller, query) {
      demand(caller, 'deploy.list');
      const visible = await visibleApps(caller, query.app);
      const bound = query.service === undefined ? null : await boundTo(query.service);
      const apps = bound === null ? visible : (visible ?? [...bound]).filter((name) => bound.has(name));
      const limit = Math.min(query.limit ?? MAX_LIST, MAX_LIST);
      const found = await store.deploys({ ...(apps === undefined ? {} : { apps }), limit, skip: query.skip ?? 0 });
      const past = await pastArtifacts(store, await appsOf(found));
      return found.map((deploy) => ({ deploy, canRollback: deploy.release !== null && past.has(deploy.artifact) }));
    },

    async info(caller, id) {
      const deploy = /^[0-9a-f]{24}$/.test(id) ? await store.deploy(id) : null;
      // An app of the name that there is now may belong to others than the one that is gone.
      const app = deploy === null || deploy.removedAt !== null ? null : await store.app(deploy.app);
      const visible = app === null ? caller.kind === 'user' && caller.isAdmin : may(caller, 'deploy.info', { app });
      // A deploy that the caller may not see and one that is not there look the same.
      if (deploy === null || !visible) {
        demand(caller, 'deploy.list');
        throw new PlatformError('deploy.not_found', 'Deploy not found.', {
          hint: 'List the deploys with "tancho deploy list".',
        });
      }
      const [log, before] = await Promise.all([store.deployLog(id), previousCommit(deploy)]);
      const past = await pastArtifacts(store, app === null ? [] : [app]);
      const comparable = deploy.commit !== '' && before !== '' && app !== null;
      const diff = comparable ? await gitHost.diff(deploy.app, before, deploy.commit) : '';
      const canRollback = deploy.release !== null && past.has(deploy.artifact);
      return { deploy, log: log.join('\n'), canRollback, diff };
    },

    async deploy(caller, appName, code, say, signal) {
      const action = code.action ?? 'app.push';
      const by = code.by ?? callerName(caller);
      const app = await demandApp(store, appName);
      const version = 'image' in code ? code.image.full : code.commit;
      const detail = version === '' ? code.origin : `${code.origin} ${version}`;
      return act(caller, action, { app }, { target: `app:${appName}`, lease: `app:${appName}`, detail }, async () => {
        const named = 'image' in code ? code.image.full : '';
        const deploy = newDeploy(appName, { ...code, image: named }, by, now());
        const current = await demandApp(store, appName);
        const env = await store.env(appName);
        await closeAbandoned(appName);
        await store.transact((tx) => tx.insertDeploy(deploy));
        return pipeline.run({ deploy, app: current, env, what: { code }, by, say, signal });
      });
    },

    async rollback(caller, appName, image, say) {
      const app = await demandApp(store, appName);
      const options = { target: `app:${appName}`, detail: image.slice(0, 200) };
      return act(caller, 'app.rollback', { app }, options, async () => {
        const release = await meant(caller, appName, image);
        return restore.around({ caller, app: appName, release, say }, (restored) =>
          goBack({ caller, app, image, say }, release, restored),
        );
      });
    },
  };
}

function newDeploy(app: string, code: Pick<Deploy, 'commit' | 'origin' | 'image'>, by: string, at: Date): Deploy {
  return {
    id: timeOrderedId(at.getTime()),
    app,
    state: 'received',
    commit: code.commit,
    origin: code.origin,
    by,
    startedAt: at.toISOString(),
    finishedAt: null,
    durationMs: 0,
    release: null,
    artifact: '',
    image: code.image,
    cause: null,
    error: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
  };
}

function changedMeanwhile(app: string): PlatformError {
  return new PlatformError('app.busy', `${app} was changed meanwhile.`, {
    hint: 'Look at the app as it is now, then try again.',
  });
}
