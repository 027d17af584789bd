/** Use cases of deploys (specification 4.10), and the entry of every door that brings code. */
import { timeOrderedId } from '../../lib/ids.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { type Action, demand, may } from '../access.ts';
import { type Act, demandStill } from '../act.ts';
import { planAndPool } from '../apps/next-release.ts';
import type { Say } from '../say.ts';
import type { App, Release } from '../apps/app.ts';
import { demandApp } from '../demand-app.ts';
import { demandRelease } from '../apps/demand-release.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Ownership } from '../controls/ownership.ts';
import type { Leases } from '../leases.ts';
import type { StoreWriter } from '../store.ts';
import type { RestoreBindings, RestoredBindings } from '../services/restored-bindings.ts';
import { cancelledBy, type CancelElsewhere } from './cancel-elsewhere.ts';
import { type Deploy, FINISHED, type NewCode } from './deploy.ts';
import { changedMeanwhile, deployNotFound, deployOver } from './deploy-errors.ts';
import type { DeployOrder } from './deploy-order.ts';
import type { DeployQueue, QueuedDeploy } from './deploy-queue.ts';
import type { GitHost } from './git-host.ts';
import { closeInterrupted, type InterruptedDeps, isCommitted } from './interrupted.ts';
import type { AppNow, Pipeline } from './pipeline.ts';
import { backTo, findRelease, pastArtifacts } from './rollback.ts';

const MAX_LIST = 1_000;
const LEASE_WAIT_MS = 30_000;
/** What was built for minutes is not thrown away because somebody changes the app for one. */
const SWITCH_WAIT_MS = 15 * 60_000;

export interface ListedDeploy {
  readonly deploy: Deploy;
  /** Its code is kept, and other code serves. */
  readonly canRollback: boolean;
  /** For people, `waiting for 2 builds`; '' for one that does not wait. */
  readonly waitsFor: string;
}

export interface DeployView extends ListedDeploy {
  readonly log: string;
  /** Unified diff to the deploy before; '' when there is none. */
  readonly diff: string;
}

interface DeployQuery {
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
  /**
   * Ends a deploy that does not serve yet; resolves with it when nothing of it is left. `id` empty: the only one of the app that goes
   * on. Errors: deploy.not_found, deploy.over for one that serves or has ended, deploy.ambiguous.
   */
  cancel(caller: Caller, app: string, id: string): Promise<Deploy>;
}

interface Wanted {
  readonly caller: Caller;
  readonly app: App;
  readonly image: string;
  readonly say: Say;
}

interface DeploysDeps extends InterruptedDeps {
  readonly gitHost: GitHost;
  readonly pipeline: Pipeline;
  readonly act: Act;
  readonly leases: Leases;
  readonly ownership: Ownership;
  readonly queue: DeployQueue;
  readonly order: DeployOrder;
  readonly cancelElsewhere: CancelElsewhere;
  readonly restore: RestoreBindings;
}

export function createDeploys(deps: DeploysDeps): Deploys {
  const { store, gitHost, pipeline, act, leases, ownership, queue, order, restore, now } = deps;
  /** The order here is that of the records. */
  const recording = new KeyedQueue();
  order.onWaitedFor(closeAbandoned);

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
    const bindings = (await store.bindingSummaries()).filter(({ instance }) => instances.has(instance));
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

  async function unfinished(app: string): Promise<Deploy[]> {
    return (await store.unfinishedDeploys()).filter((deploy) => deploy.app === app && !isCommitted(deploy));
  }

  /** This control runs its own deploys, so those of them that are not committed and that it does not know were left behind. */
  async function closeAbandoned(app: string): Promise<void> {
    for (const deploy of await unfinished(app)) {
      if (queue.has(deploy.id) || !(await ownership.hasDeploy(deploy.id))) continue;
      await closeInterrupted(deps, deploy);
      order.changed(app);
    }
  }

  /** Refused for an app that is being removed: whoever removes it ends the deploys that there are. */
  async function insert(deploy: Deploy, { createdAt }: App, also?: (tx: StoreWriter) => Promise<void>): Promise<void> {
    await store.transact(async (tx) => {
      if ((await demandApp(tx, deploy.app)).createdAt !== createdAt) throw changedMeanwhile(deploy.app);
      await tx.insertDeploy(deploy);
      await ownership.claimDeploy(tx, deploy.id);
      await also?.(tx);
    });
  }

  /** Recorded, and in its place. */
  function enter(deploy: Deploy, app: App, ref: string, signal: AbortSignal): Promise<QueuedDeploy> {
    return recording.run(app.name, async () => {
      const asked = { id: deploy.id, app: app.name, by: deploy.by, ref };
      const queued = queue.enter({ ...asked, signal });
      try {
        await closeAbandoned(app.name);
        let elsewhere: string[] = [];
        await insert(deploy, app, async (tx) => void (elsewhere = await order.enter(tx, asked)));
        if (elsewhere.length > 0) order.changed(app.name);
        queued.replaced.push(...elsewhere);
        return queued;
      } catch (error) {
        queued.leave();
        throw error;
      }
    });
  }

  function waitsFor({ id, state }: Deploy): string {
    const isElsewhere = state === 'received' && !ownership.isAlone && !queue.has(id);
    return isElsewhere ? 'waiting on another server' : queue.waitsFor(id);
  }

  /** The app as it is now, for who may still do this to it. */
  async function still(caller: Caller, action: Action, before: App): Promise<App> {
    await demandStill({ store, now }, caller, action, { app: before });
    const app = await demandApp(store, before.name);
    if (app.createdAt !== before.createdAt) throw changedMeanwhile(app.name);
    return app;
  }

  async function appNow(caller: Caller, action: Action, before: App): Promise<AppNow> {
    const app = await still(caller, action, before);
    return { app, env: await store.env(app.name) };
  }

  /** The one that is meant; see Deploys.cancel. */
  async function cancellable(app: string, id: string): Promise<Deploy> {
    if (id !== '') {
      const deploy = /^[0-9a-f]{24}$/.test(id) ? await store.deploy(id) : null;
      if (deploy === null || deploy.app !== app || deploy.removedAt !== null) throw deployNotFound();
      return deploy;
    }
    const [only, ...others] = await unfinished(app);
    if (only === undefined) {
      throw new PlatformError('deploy.not_found', `No deploy of ${app} goes on.`, {
        hint: `See "tancho deploy list -a ${app}".`,
      });
    }
    if (others.length === 0) return only;
    const ids = [only, ...others].map((deploy) => deploy.id);
    throw new PlatformError('deploy.ambiguous', `${ids.length} deploys of ${app} go on: ${ids.join(', ')}.`, {
      hint: `Say which one: tancho deploy cancel <id> -a ${app}`,
    });
  }

  function alone<T>(caller: Caller, app: App, work: (current: App) => Promise<T>): Promise<T> {
    const options = { waitMs: LEASE_WAIT_MS, holder: `app.rollback by ${callerName(caller)}` };
    return leases.hold(`app:${app.name}`, options, async () => work(await still(caller, 'app.rollback', app)));
  }

  /** Once nobody is at work on the app: `previous` is of the release that serves then. */
  function meant(caller: Caller, app: App, image: string): Promise<Release> {
    return alone(caller, app, async (current) => {
      await demandRelease(store, current);
      return findRelease(store, current, image);
    });
  }

  function goBack({ caller, app, image, say }: Wanted, meantOne: Release, restored: RestoredBindings): Promise<Deploy> {
    const { name } = app;
    const by = callerName(caller);
    return alone(caller, app, async (current) => {
      const old = await findRelease(store, current, image);
      if (old.number !== meantOne.number) throw changedMeanwhile(name);
      const deploy = newDeploy(name, { commit: old.commit, image: old.image, origin: 'rollback' }, by, now());
      const around = await planAndPool(store, current);
      const env = await restored.env(old.env.filter((variable) => variable.managedBy === ''));
      const back = backTo(old, { env, ...around, deployId: deploy.id, by, at: now() });
      const { signal } = new AbortController();
      const queued = queue.join({ id: deploy.id, app: name, by, ref: '', signal });
      try {
        await closeAbandoned(name);
        await insert(deploy, current);
        say(`---- Going back to release ${old.number} ----`);
        // Private values of either environment may be printed.
        const begun = { app: current, env: [...(await store.env(name)), ...env] };
        return await pipeline.run({
          deploy,
          begun,
          what: { back, write: restored.write },
          by,
          say,
          queued,
          current: async () => begun,
          exclusively: (_, work) => work(),
        });
      } finally {
        queued.leave();
      }
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
      return found.map((deploy) => ({
        deploy,
        canRollback: deploy.release !== null && past.has(deploy.artifact),
        waitsFor: waitsFor(deploy),
      }));
    },

    async info(caller, id) {
      const deploy = /^[0-9a-f]{24}$/.test(id) ? await store.deploy(id) : null;
      // An app of the name that there is now may belong to others than the one that is gone.
      const app = deploy === null || deploy.removedAt !== null ? null : await store.app(deploy.app);
      const visible = app === null ? caller.kind === 'user' && caller.isAdmin : may(caller, 'deploy.info', { app });
      // A deploy that the caller may not see and one that is not there look the same.
      if (deploy === null || !visible) {
        demand(caller, 'deploy.list');
        throw deployNotFound();
      }
      const [log, before] = await Promise.all([store.deployLog(id), previousCommit(deploy)]);
      const past = await pastArtifacts(store, app === null ? [] : [app]);
      const comparable = deploy.commit !== '' && before !== '' && app !== null;
      const diff = comparable ? await gitHost.diff(deploy.app, before, deploy.commit) : '';
      const canRollback = deploy.release !== null && past.has(deploy.artifact);
      return { deploy, log: log.join('\n'), canRollback, diff, waitsFor: waitsFor(deploy) };
    },

    async deploy(caller, appName, code, say, signal) {
      const action = code.action ?? 'app.push';
      const by = code.by ?? callerName(caller);
      const app = await demandApp(store, appName);
      const version = 'image' in code ? code.image.full : code.commit;
      const detail = version === '' ? code.origin : `${code.origin} ${version}`;
      return act(caller, action, { app }, { target: `app:${appName}`, detail }, async () => {
        const named = 'image' in code ? code.image.full : '';
        const deploy = newDeploy(appName, { ...code, image: named }, by, now());
        const queued = await enter(deploy, app, code.push?.ref ?? '', signal);
        try {
          return await pipeline.run({
            deploy,
            begun: { app, env: await store.env(appName) },
            what: { code },
            by,
            say,
            queued,
            current: () => appNow(caller, action, app),
            exclusively: (announce, work) => {
              const other = leases.holderOf(`app:${appName}`);
              if (other !== undefined) announce(`-----> Waiting for ${other} to end`);
              const options = { waitMs: SWITCH_WAIT_MS, holder: `${action} by ${by}`, signal: queued.signal };
              return leases.hold(`app:${appName}`, options, work);
            },
          });
        } finally {
          queued.leave(code.push?.over);
          order.changed(appName);
        }
      });
    },

    async rollback(caller, appName, image, say) {
      const app = await demandApp(store, appName);
      const options = { target: `app:${appName}`, detail: image.slice(0, 200) };
      return act(caller, 'app.rollback', { app }, options, async () => {
        const release = await meant(caller, app, image);
        return restore.around({ caller, app: appName, release, say }, (restored) =>
          goBack({ caller, app, image, say }, release, restored),
        );
      });
    },

    async cancel(caller, appName, id) {
      const app = await demandApp(store, appName);
      return act(caller, 'deploy.cancel', { app }, { target: `app:${appName}`, detail: id.slice(0, 24) }, async () => {
        const deploy = await cancellable(appName, id.trim());
        if (isCommitted(deploy) || FINISHED.has(deploy.state)) throw deployOver(deploy);
        if (queue.has(deploy.id)) {
          await queue.cancel(deploy.id, cancelledBy(callerName(caller)));
        } else if (!(await ownership.hasDeploy(deploy.id))) {
          await deps.cancelElsewhere(deploy.id, callerName(caller));
        } else {
          await closeInterrupted(deps, deploy);
        }
        const after = (await store.deploy(deploy.id)) ?? deploy;
        if (after.state !== 'cancelled') throw deployOver(after);
        return after;
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
    warning: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
  };
}
