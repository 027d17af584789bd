/**
 * Typed client of the published API, one method per operation; needs nothing but Node. It does not know who is asking or
 * where the platform is: that is the caller's (cli/target.ts).
 */
import { type AppTokensClient, appTokensClient, type QuotasClient, quotasClient } from './accounts.ts';
import { type AppsClient, appsClient, type EnvClient, envClient } from './apps.ts';
import { type Calls, createCalls, path, type Progress } from './calls.ts';
import type * as shapes from './shapes.ts';
import type { Target } from './transport.ts';

export type { Target } from './transport.ts';

export interface UsersClient {
  create(email: string, password: string): Promise<void>;
  /** A new session's token. */
  login(email: string, password: string): Promise<string>;
  logout(): Promise<void>;
  info(): Promise<shapes.UserInfo>;
  /** Everybody for an admin, else only the caller. */
  list(): Promise<readonly shapes.UserSummary[]>;
  changePassword(old: string, password: string): Promise<void>;
  /** Has a token mailed. */
  requestReset(email: string): Promise<void>;
  /** Without a password a random one is mailed. */
  resetPassword(email: string, token: string, password?: string): Promise<void>;
  /** Without an e-mail, the caller. */
  remove(email?: string): Promise<void>;
  apiKey(): Promise<shapes.ApiKey>;
  /** The new key. */
  regenerateApiKey(): Promise<string>;
}

export interface KeysClient {
  list(): Promise<shapes.Keys>;
  add(key: string, name?: string): Promise<void>;
  remove(name: string): Promise<void>;
}

export interface TeamsClient {
  list(): Promise<readonly shapes.TeamName[]>;
  info(name: string): Promise<shapes.TeamInfo>;
  create(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  addMember(team: string, email: string): Promise<void>;
  removeMember(team: string, email: string): Promise<void>;
}

export interface PoolsClient {
  /** Those that your teams may use; an admin sees all. */
  list(): Promise<readonly shapes.PoolShape[]>;
  create(name: string, options?: { readonly public?: boolean }): Promise<void>;
  remove(name: string): Promise<void>;
  addTeams(name: string, teams: readonly string[]): Promise<void>;
  removeTeams(name: string, teams: readonly string[]): Promise<void>;
}

export interface DeploysClient {
  /** Newest first. */
  list(filter?: { readonly app?: string; readonly limit?: number }): Promise<readonly shapes.DeploySummary[]>;
  info(id: string): Promise<shapes.DeployInfo>;
  /** `image`: the Image or ID of a deploy, a release (`v3`), or `previous`. */
  rollback(app: string, image: string, progress?: Progress): Promise<void>;
}

export interface Client {
  /** How the target is called in messages. */
  readonly name: string;
  readonly users: UsersClient;
  readonly keys: KeysClient;
  readonly teams: TeamsClient;
  readonly apps: AppsClient;
  readonly env: EnvClient;
  readonly platforms: { list(): Promise<readonly shapes.Platform[]> };
  readonly deploys: DeploysClient;
  readonly pools: PoolsClient;
  readonly healers: {
    list(): Promise<readonly Readonly<Record<string, string>>[]>;
    run(name: string): Promise<shapes.HealingReport>;
  };
  readonly quotas: QuotasClient;
  readonly appTokens: AppTokensClient;
  info(): Promise<shapes.Metadata>;
  /** `WORKING` when all is well. */
  healthcheck(): Promise<string>;
}

/** Every method throws ClientError; with a signal, the signal's reason. */
export function createClient(target: Target, token?: string): Client {
  const calls = createCalls(target, token);
  return {
    name: calls.name,
    users: usersClient(calls),
    keys: keysClient(calls),
    teams: teamsClient(calls),
    apps: appsClient(calls),
    env: envClient(calls),
    platforms: { list: () => calls.json<readonly shapes.Platform[]>('GET', '/platforms', {}, []) },
    pools: poolsClient(calls),
    healers: {
      list: () => calls.json<readonly Readonly<Record<string, string>>[]>('GET', '/healers', {}, []),
      run: (name) => calls.json('POST', path`/healers/${name}`),
    },
    deploys: {
      list: (filter = {}) =>
        calls.json<readonly shapes.DeploySummary[]>('GET', '/deploys', { query: { ...filter } }, []),
      info: (id) => calls.json('GET', path`/deploys/${id}`),
      rollback: (app, image, progress = {}) =>
        calls.progress('POST', path`/apps/${app}/deploy/rollback`, { json: { image } }, progress),
    },
    quotas: quotasClient(calls),
    appTokens: appTokensClient(calls),
    info: () => calls.json('GET', '/info'),
    healthcheck: async () => (await calls.done('GET', '/healthcheck')).trim(),
  };
}

function usersClient(calls: Calls): UsersClient {
  return {
    async create(email, password) {
      await calls.done('POST', '/users', { json: { email, password } });
    },
    async login(email, password) {
      const { token } = await calls.json<{ token: string }>('POST', path`/users/${email}/tokens`, {
        json: { password },
      });
      return token;
    },
    async logout() {
      await calls.done('DELETE', '/users/tokens');
    },
    info: () => calls.json('GET', '/users/info'),
    list: () => calls.json<readonly shapes.UserSummary[]>('GET', '/users', {}, []),
    async changePassword(old, password) {
      await calls.done('PUT', '/users/password', { json: { old, new: password } });
    },
    async requestReset(email) {
      await calls.done('POST', path`/users/${email}/password`);
    },
    async resetPassword(email, token, password) {
      const json = password === undefined ? {} : { password };
      await calls.done('POST', path`/users/${email}/password`, { query: { token }, json });
    },
    async remove(email) {
      await calls.done('DELETE', '/users', { query: { user: email } });
    },
    apiKey: () => calls.json('GET', '/users/api-key'),
    regenerateApiKey: () => calls.json('POST', '/users/api-key'),
  };
}

function keysClient(calls: Calls): KeysClient {
  return {
    list: () => calls.json<shapes.Keys>('GET', '/users/keys', {}, {}),
    async add(key, name) {
      await calls.done('POST', '/users/keys', { json: name === undefined ? { key } : { key, name } });
    },
    async remove(name) {
      await calls.done('DELETE', '/users/keys', { json: { name } });
    },
  };
}

function poolsClient(calls: Calls): PoolsClient {
  return {
    list: () => calls.json<readonly shapes.PoolShape[]>('GET', '/1.0/pools', {}, []),
    async create(name, options = {}) {
      await calls.done('POST', '/pools', { json: { name, public: options.public === true } });
    },
    async remove(name) {
      await calls.done('DELETE', path`/pools/${name}`);
    },
    async addTeams(name, team) {
      await calls.done('POST', path`/pools/${name}/team`, { query: { team } });
    },
    async removeTeams(name, team) {
      await calls.done('DELETE', path`/pools/${name}/team`, { query: { team } });
    },
  };
}

function teamsClient(calls: Calls): TeamsClient {
  return {
    list: () => calls.json<readonly shapes.TeamName[]>('GET', '/teams', {}, []),
    info: (name) => calls.json('GET', path`/teams/${name}`),
    async create(name) {
      await calls.done('POST', '/teams', { json: { name } });
    },
    async remove(name) {
      await calls.done('DELETE', path`/teams/${name}`);
    },
    async addMember(team, email) {
      await calls.done('PUT', path`/teams/${team}/${email}`);
    },
    async removeMember(team, email) {
      await calls.done('DELETE', path`/teams/${team}/${email}`);
    },
  };
}
