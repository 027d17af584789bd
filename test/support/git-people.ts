/** Users, apps and deploys, small and in memory, as the git doors need them. */
import { demand } from '../../src/domain/access.ts';
import { type App, NEW_APP } from '../../src/domain/apps/app.ts';
import type { Apps } from '../../src/domain/apps/apps.ts';
import type { Say } from '../../src/domain/say.ts';
import type { Caller, UserCaller } from '../../src/domain/caller.ts';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import { DeployQueue } from '../../src/domain/deploys/deploy-queue.ts';
import type { Deploys } from '../../src/domain/deploys/deploys.ts';
import type { NewCode } from '../../src/domain/deploys/deploy.ts';
import { randomHex } from '../../src/lib/ids.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Store } from '../../src/domain/store.ts';
import type { Users } from '../../src/domain/users/users.ts';

export interface DeployCall {
  readonly caller: Caller;
  readonly app: string;
  readonly code: NewCode;
  readonly say: Say;
  readonly signal: AbortSignal;
}

export const ANN = 'ann@example.com';
export const BOB = 'bob@example.com';
export const ANN_TOKEN = 'token-of-ann';

const TEAMS: Readonly<Record<string, string>> = { [ANN]: 'shop-team', [BOB]: 'other-team' };

function user(email: string, via: UserCaller['via']): UserCaller {
  const teams = [TEAMS[email] ?? 'none'];
  return { kind: 'user', email, isAdmin: false, teams, via, tokenHash: '', address: '127.0.0.1' };
}

function app(name: string): App {
  return {
    ...NEW_APP,
    name,
    platform: 'static',
    owner: ANN,
    teamOwner: 'shop-team',
    teams: ['shop-team'],
    pool: 'default',
    plan: 'default',
    description: '',
    createdAt: new Date(0).toISOString(),
  };
}

/** By the fingerprints of their keys; Ann has a token, and everybody a password. */
export function usersOf(owners: ReadonlyMap<string, string>): Pick<Users, 'bySshKey' | 'byToken' | 'byPassword'> {
  return {
    async bySshKey(fingerprint) {
      const email = owners.get(fingerprint);
      return email === undefined ? null : user(email, 'ssh-key');
    },
    byToken: async (token) => (token === ANN_TOKEN ? user(ANN, 'session') : null),
    async byPassword(email, secret) {
      const isRight = secret === `password-of-${email}` || (email === ANN && secret === ANN_TOKEN);
      return email in TEAMS && isRight ? user(email, 'password') : null;
    },
  };
}

export const APPS: Pick<Apps, 'info'> = {
  async info(caller, name) {
    if (name !== 'shop') throw new PlatformError('app.not_found', 'App not found.');
    demand(caller, 'app.info', { app: app(name) });
    return { app: app(name), units: [], state: 'started', problems: [], repositoryUrl: '', address: '', ip: '' };
  },
};

/** `store`: of repositories that are shared, in which the references of a push move with its deploy. */
export function deploysOf(
  work: (call: DeployCall) => Promise<void>,
  store: Pick<Store, 'transact'> | null = null,
): Pick<Deploys, 'deploy'> {
  const queue = new DeployQueue();
  return {
    async deploy(caller, name, code, say, signal) {
      const { begin, hold, move, over } = code.push ?? {};
      const queued = queue.enter({ id: randomHex(24), app: name, by: ANN, ref: '', signal });
      try {
        if (queued.ahead() > 0) say('another deploy goes on');
        await queued.turn();
        await begin?.();
        await hold?.('0'.repeat(24));
        await work({ caller, app: name, code, say, signal });
        await store?.transact(async (tx) => move?.(tx));
        return deployed(name, code);
      } finally {
        queued.leave(over);
      }
    },
  };
}

function deployed(name: string, code: NewCode): Deploy {
  return {
    id: '0'.repeat(24),
    app: name,
    state: 'done',
    commit: code.commit,
    origin: code.origin,
    by: ANN,
    startedAt: new Date(0).toISOString(),
    finishedAt: new Date(0).toISOString(),
    durationMs: 0,
    release: 1,
    artifact: 'a',
    image: '',
    cause: null,
    error: '',
    warning: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
  };
}
