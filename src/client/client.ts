/**
 * Typed client of the published API, one method per operation; needs nothing but Node. It does not know who is asking or
 * where the platform is: that is the caller's (cli/target.ts).
 */
import type { Readable } from 'node:stream';
import { type AppTokensClient, appTokensClient, type QuotasClient, quotasClient } from './accounts.ts';
import { type PlansClient, plansClient, type PlatformsClient, platformsClient } from './administration.ts';
import { type AppsClient, appsClient, type EnvClient, envClient } from './apps.ts';
import { type CertificatesClient, certificatesClient } from './certificates.ts';
import { createCalls, type Progress } from './calls.ts';
import { type DrainsClient, drainsClient } from './drains.ts';
import { type EdgeClient, edgeClient } from './edge.ts';
import { type AlertsClient, alertsClient } from './alerts.ts';
import { type EdgesClient, edgesClient } from './edges.ts';
import { type BackupsClient, backupsClient } from './backups.ts';
import { type WebhooksClient, webhooksClient } from './webhooks.ts';
import { path } from './path.ts';
import { type RegistriesClient, registriesClient } from './registries.ts';
import { createRequests, type Requests } from './requests.ts';
import { type InstancesClient, instancesClient, type ServicesClient, servicesClient } from './services.ts';
import type * as shapes from './shapes.ts';
import type { ServerAddress } from './transport.ts';
import { type ReleasesClient, releasesClient } from './releases.ts';
import { type VolumesClient, volumesClient } from './volumes.ts';

export type { ServerAddress } from './transport.ts';

export interface UsersClient {
  create(email: string, password: string): Promise<void>;
  /** A new session's token. */
  login(email: string, password: string): Promise<string>;
  logout(): Promise<void>;
  /** Ends every session of the caller. */
  logoutEverywhere(): Promise<void>;
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
  setAdmin(email: string, isAdmin: boolean): Promise<void>;
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

export interface PoolChange {
  /** Whether every team may use it. */
  readonly public?: boolean;
  /** Which of the server's engines runs its apps. */
  readonly engine?: string;
  /** Where in the engine. */
  readonly options?: Readonly<Record<string, string>>;
}

export interface PoolsClient {
  /** Those that your teams may use; an admin sees all. */
  list(): Promise<readonly shapes.PoolShape[]>;
  create(name: string, options?: PoolChange): Promise<void>;
  update(name: string, change: PoolChange): Promise<void>;
  remove(name: string): Promise<void>;
  addTeams(name: string, teams: readonly string[]): Promise<void>;
  removeTeams(name: string, teams: readonly string[]): Promise<void>;
}

export interface DeploysClient {
  /** Newest first. */
  list(filter?: { readonly app?: string; readonly limit?: number }): Promise<readonly shapes.DeploySummary[]>;
  info(id: string): Promise<shapes.DeployInfo>;
  /** `archive`: a tar file, gzipped. */
  upload(
    app: string,
    code: { readonly archive: Readable; readonly message: string },
    progress?: Progress,
  ): Promise<void>;
  /** `image`: its name in a registry. */
  image(app: string, image: string, progress?: Progress): Promise<void>;
  /** `image`: the Image or ID of a deploy, a release (`v3`), or `previous`. */
  rollback(app: string, image: string, progress?: Progress): Promise<void>;
  /** Without `deploy` the only one of the app that goes on. Resolves when it has ended. */
  cancel(app: string, deploy?: string): Promise<shapes.DeployInfo>;
}

export interface EventFilter {
  readonly app?: string | undefined;
  /** E-mail of a user. */
  readonly by?: string | undefined;
  /** Also what was refused. */
  readonly failed?: boolean | undefined;
  /** RFC 3339, or how long ago. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** 100 at most. */
  readonly limit?: number;
}

export interface Client extends Pick<Requests, 'request'> {
  /** How the target is called in messages. */
  readonly name: string;
  readonly users: UsersClient;
  readonly keys: KeysClient;
  readonly teams: TeamsClient;
  readonly apps: AppsClient;
  readonly env: EnvClient;
  readonly platforms: PlatformsClient;
  readonly plans: PlansClient;
  readonly certificates: CertificatesClient;
  readonly deploys: DeploysClient;
  readonly pools: PoolsClient;
  readonly services: ServicesClient;
  readonly instances: InstancesClient;
  readonly registries: RegistriesClient;
  readonly releases: ReleasesClient;
  readonly volumes: VolumesClient;
  readonly drains: DrainsClient;
  readonly edge: EdgeClient;
  readonly webhooks: WebhooksClient;
  readonly alerts: AlertsClient;
  readonly edges: EdgesClient;
  readonly backups: BackupsClient;
  /** How full the disk of the platform is, and who holds what of it. */
  disk(): Promise<shapes.DiskReport>;
  /** How the platform itself is. */
  health(): Promise<shapes.HealthReport>;
  readonly healers: {
    /** Objects of one key each: the name, and the address that executes it. */
    list(): Promise<readonly Readonly<Record<string, string>>[]>;
    run(healer: string): Promise<shapes.HealingReport>;
    /** Newest first. */
    recent(): Promise<readonly shapes.Healing[]>;
  };
  readonly events: {
    /** Newest first; admins see all, others their own and those of their apps. */
    list(filter?: EventFilter): Promise<readonly shapes.Event[]>;
    info(event: string): Promise<shapes.Event>;
    /** Rows of the audit log from this index on, at most 1,000; for admins. */
    log(from: number, limit?: number): Promise<shapes.AuditLog>;
  };
  readonly quotas: QuotasClient;
  readonly appTokens: AppTokensClient;
  info(): Promise<shapes.Metadata>;
  /** `WORKING` when all is well. */
  healthcheck(): Promise<string>;
}

/** Every method throws ClientError; with a signal, the signal's reason. */
export function createClient(target: ServerAddress, token?: string): Client {
  const calls = createCalls(target, token);
  const requests = createRequests(calls);
  const { name, request, progress: during } = requests;
  return {
    name,
    request,
    users: usersClient(requests),
    keys: keysClient(requests),
    teams: teamsClient(requests),
    apps: appsClient(requests, calls.shell),
    env: envClient(requests),
    platforms: platformsClient(requests),
    plans: plansClient(requests),
    certificates: certificatesClient(requests),
    pools: poolsClient(requests),
    registries: registriesClient(requests),
    releases: releasesClient(requests),
    volumes: volumesClient(requests),
    drains: drainsClient(requests),
    edge: edgeClient(requests),
    webhooks: webhooksClient(requests),
    alerts: alertsClient(requests),
    edges: edgesClient(requests),
    backups: backupsClient(requests),
    disk: () => request('server.disk'),
    health: () => request('server.health'),
    healers: {
      list: () => request('healers.list'),
      recent: () => request('healers.recent'),
      run: (healer) => request('healers.run-post', { params: { healer } }),
    },
    events: {
      list: ({ app, by, failed, since, until, limit } = {}) =>
        request('events.list', {
          query: {
            'target.value': app,
            ownername: by,
            erroronly: failed === true ? true : undefined,
            since,
            until,
            limit,
          },
        }),
      info: (event) => request('events.info', { params: { event } }),
      log: (from, limit) => request('events.log', { query: { from, limit } }),
    },
    deploys: {
      list: (filter = {}) => request('deploys.list', { query: { ...filter } }),
      info: (deploy) => request('deploys.info', { params: { deploy } }),
      upload: (app, { archive, message }, progress = {}) =>
        calls.progress(
          'POST',
          path`/apps/${app}/deploy`,
          { query: { origin: 'app-deploy', message: message === '' ? undefined : message }, archive },
          progress,
        ),
      image: (app, image, progress = {}) =>
        calls.progress('POST', path`/apps/${app}/deploy`, { form: { image, origin: 'image' } }, progress),
      rollback: (app, image, progress = {}) =>
        during('deploys.rollback', { params: { app }, body: { image } }, progress),
      cancel: (app, deploy = '') => request('deploys.cancel', { params: { app }, query: { deploy } }),
    },
    services: servicesClient(requests),
    instances: instancesClient(requests),
    quotas: quotasClient(requests),
    appTokens: appTokensClient(requests),
    info: () => request('metadata.info'),
    healthcheck: async () => (await request('metadata.healthcheck')).trim(),
  };
}

function usersClient({ request }: Requests): UsersClient {
  return {
    create: (email, password) => request('users.create', { body: { email, password } }),
    login: async (email, password) => (await request('users.login', { params: { email }, body: { password } })).token,
    logout: () => request('users.logout'),
    logoutEverywhere: () => request('users.logout_everywhere'),
    info: () => request('users.info'),
    list: () => request('users.list'),
    changePassword: (old, password) => request('users.change_password', { body: { old, new: password } }),
    requestReset: (email) => request('users.reset_password', { params: { email } }),
    resetPassword: (email, token, password) =>
      request('users.reset_password', { params: { email }, query: { token }, body: { password } }),
    remove: (email) => request('users.remove', { query: { user: email } }),
    setAdmin: (email, isAdmin) => request(isAdmin ? 'users.make_admin' : 'users.unmake_admin', { params: { email } }),
    apiKey: () => request('api_key.show'),
    regenerateApiKey: () => request('api_key.regenerate'),
  };
}

function keysClient({ request }: Requests): KeysClient {
  return {
    list: () => request('keys.list'),
    add: (key, name) => request('keys.add', { body: { key, name } }),
    remove: (name) => request('keys.remove', { body: { name } }),
  };
}

function poolsClient({ request }: Requests): PoolsClient {
  return {
    list: () => request('pools.list_all'),
    create: (name, options = {}) => request('pools.create', { body: { name, ...options } }),
    update: (pool, change) => request('pools.update', { params: { pool }, body: { ...change } }),
    remove: (pool) => request('pools.remove', { params: { pool } }),
    addTeams: (pool, team) => request('pools.team_add', { params: { pool }, query: { team } }),
    removeTeams: (pool, team) => request('pools.team_remove', { params: { pool }, query: { team } }),
  };
}

function teamsClient({ request }: Requests): TeamsClient {
  return {
    list: () => request('teams.list'),
    info: (team) => request('teams.info', { params: { team } }),
    create: (name) => request('teams.create', { body: { name } }),
    remove: (team) => request('teams.remove', { params: { team } }),
    addMember: (team, user) => request('teams.member_add', { params: { team, user } }),
    removeMember: (team, user) => request('teams.member_remove', { params: { team, user } }),
  };
}
