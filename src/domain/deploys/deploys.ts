/** Use cases of deploys (specification 4.10), and the entry of every door that brings code. */
import { timeOrderedId } from '../../lib/ids.ts';
import { type Action, demand, may } from '../access.ts';
import type { Act } from '../act.ts';
import type { Say } from '../say.ts';
import { demandApp } from '../apps/demand-app.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Deploy, NewCode } from './deploy.ts';
import type { GitHost } from './git-host.ts';
import { closeInterrupted, type InterruptedDeps, isCommitted } from './interrupted.ts';
import type { Pipeline } from './pipeline.ts';

const MAX_LIST = 1_000;

export interface DeployView {
  readonly deploy: Deploy;
  readonly log: string;
  readonly canRollback: boolean;
  /** Unified diff to the deploy before; '' when there is none. */
  readonly diff: string;
}

export interface Deploys {
  /** Newest first, of the apps the caller may see. */
  list(caller: Caller, filter: { app?: string; limit?: number; skip?: number }): Promise<Deploy[]>;
  info(caller: Caller, id: string): Promise<DeployView>;
  /**
   * The whole way from source to serving; resolves when the new version answers. `say` gets every line meant for the
   * pusher. Throws PlatformError `deploy.failed` whose details.cause is a FailureCause and whose text was already said;
   * the old version then still serves.
   */
  deploy(caller: Caller, app: string, code: NewCode, say: Say, signal: AbortSignal): Promise<Deploy>;
}

export interface DeploysDeps extends InterruptedDeps {
  readonly gitHost: GitHost;
  readonly pipeline: Pipeline;
  readonly act: Act;
}

export function createDeploys(deps: DeploysDeps): Deploys {
  const { store, gitHost, pipeline, act, now } = deps;

  async function visibleApps(caller: Caller, name: string | undefined): Promise<string[] | undefined> {
    if (name !== undefined && name !== '') {
      const app = await demandApp(store, name);
      demand(caller, 'deploy.info', { app });
      return [app.name];
    }
    if (caller.kind === 'user' && !caller.isAdmin) return (await store.apps(caller.teams)).map((app) => app.name);
    return undefined;
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

  return {
    async list(caller, filter) {
      demand(caller, 'deploy.list');
      const apps = await visibleApps(caller, filter.app);
      const limit = Math.min(filter.limit ?? MAX_LIST, MAX_LIST);
      return store.deploys({ ...(apps === undefined ? {} : { apps }), limit, skip: filter.skip ?? 0 });
    },

    async info(caller, id) {
      const deploy = /^[0-9a-f]{24}$/.test(id) ? await store.deploy(id) : null;
      const app = deploy === null ? null : await store.app(deploy.app);
      const visible = app === null ? caller.kind === 'user' && caller.isAdmin : may(caller, 'deploy.info', { app });
      // A deploy that the caller may not see and one that is not there look the same.
      if (deploy === null || !visible) {
        demand(caller, 'deploy.list');
        throw new PlatformError('deploy.not_found', 'Deploy not found.', {
          hint: 'List the deploys with "tancho deploy list".',
        });
      }
      const [log, before] = await Promise.all([store.deployLog(id), previousCommit(deploy)]);
      const release = deploy.release === null ? null : await store.release(deploy.app, deploy.release);
      const comparable = deploy.commit !== '' && before !== '' && app !== null;
      const diff = comparable ? await gitHost.diff(deploy.app, before, deploy.commit) : '';
      return { deploy, log: log.join('\n'), canRollback: release !== null && app?.release !== deploy.release, diff };
    },

    async deploy(caller, appName, code, say, signal) {
      const action: Action = 'app.push';
      const app = await demandApp(store, appName);
      const detail = code.commit === '' ? code.origin : `${code.origin} ${code.commit}`;
      return act(caller, action, { app }, { target: `app:${appName}`, lease: `app:${appName}`, detail }, async () => {
        const deploy = newDeploy(appName, code, callerName(caller), now());
        const current = await demandApp(store, appName);
        const env = await store.env(appName);
        await closeAbandoned(appName);
        await store.transact((tx) => tx.insertDeploy(deploy));
        return pipeline.run({ deploy, app: current, env, code, by: callerName(caller), say, signal });
      });
    },
  };
}

function newDeploy(app: string, code: NewCode, by: string, at: Date): Deploy {
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
    cause: null,
    error: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
  };
}
