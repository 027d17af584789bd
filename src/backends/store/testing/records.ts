/** Records to put into a store; each maker takes what matters to the case. */
import type { AppToken } from '../../../domain/app-tokens/app-token.ts';
import { type App, type EnvVar, NEW_APP, type Release } from '../../../domain/apps/app.ts';
import { NO_SETTINGS } from '../../../domain/apps/app-settings.ts';
import type { Rollout } from '../../../domain/rollouts/rollout.ts';
import type { Unit } from '../../../domain/units/unit.ts';
import type { Deploy } from '../../../domain/deploys/deploy.ts';
import type { PlatformEvent } from '../../../domain/audit/events.ts';
import type { Store } from '../../../domain/store.ts';
import type { Team } from '../../../domain/teams/team.ts';
import type { ApiKey, PasswordReset, Session, SshKey, User } from '../../../domain/users/user.ts';

export const AT = '2026-03-04T05:06:07.089Z';
export const LATER = '2026-03-05T00:00:00.000Z';

export function user(email: string, more: Partial<User> = {}): User {
  return { email, passwordHash: `hash of ${email}`, isAdmin: false, createdAt: AT, ...more };
}

export function session(tokenHash: string, more: Partial<Session> = {}): Session {
  return { tokenHash, email: 'ann@example.com', createdAt: AT, expiresAt: LATER, ...more };
}

export function sshKey(name: string, more: Partial<SshKey> = {}): SshKey {
  const fingerprint = `SHA256:${name}`;
  return { email: 'ann@example.com', name, fingerprint, key: `ssh-ed25519 ${name}`, createdAt: AT, ...more };
}

export function apiKey(key: string, more: Partial<ApiKey> = {}): ApiKey {
  return { email: 'ann@example.com', keyHash: `hash of ${key}`, key, createdAt: AT, ...more };
}

export function passwordReset(tokenHash: string, more: Partial<PasswordReset> = {}): PasswordReset {
  return { tokenHash, email: 'ann@example.com', createdAt: AT, expiresAt: LATER, ...more };
}

export function appToken(tokenHash: string, more: Partial<AppToken> = {}): AppToken {
  return { tokenHash, app: 'shop', by: 'ann@example.com', createdAt: AT, expiresAt: LATER, ...more };
}

export function team(name: string, ...members: string[]): Team {
  return { name, createdAt: AT, members };
}

export function app(name: string, more: Partial<App> = {}): App {
  return {
    ...NEW_APP,
    name,
    platform: 'nodejs',
    owner: 'ann@example.com',
    teamOwner: 'red',
    teams: ['red'],
    pool: 'default',
    plan: 'default',
    description: `The ${name}`,
    createdAt: AT,
    ...more,
  };
}

export function variable(name: string, value: string, more: Partial<EnvVar> = {}): EnvVar {
  return { name, value, public: false, managedBy: '', ...more };
}

export function release(appName: string, number: number, more: Partial<Release> = {}): Release {
  return {
    app: appName,
    number,
    artifact: `slug-${number}`,
    deployId: null,
    commit: 'c0ffee',
    image: '',
    published: 'registry.example.com/apps/shop@sha256:5',
    env: [variable('SECRET', 'of the release', { public: true, managedBy: 'db' })],
    processes: { web: { command: 'node "server".js', count: 2 }, worker: { command: 'node worker.js', count: 0 } },
    healthCheck: { path: '/ok', status: 200, timeoutSeconds: 5 },
    hooks: { release: ['npm run seed'], restartBefore: ['npm run migrate'], restartAfter: [] },
    limits: { memoryBytes: 3 * 1024 ** 3, cpuMillis: 250 },
    placement: { engine: 'elsewhere', options: { shelf: 'upper' } },
    settings: { ...NO_SETTINGS, root: 'apps/web', startCommands: { web: 'node .' }, counts: { worker: 0 } },
    mounts: [{ volume: 'photos', path: '/photos', processes: ['web'], from: 'set' }],
    bindingNames: { db: { MAIN_URL: 'DATABASE_URL' } },
    maintenancePage: '<h1>Ü</h1>',
    reason: 'deploy',
    by: 'ann@example.com',
    createdAt: AT,
    ...more,
  };
}

export function unit(appName: string, index: number, more: Partial<Unit> = {}): Unit {
  return {
    id: `${Buffer.from(appName).toString('hex')}${index}`,
    app: appName,
    index,
    process: 'web',
    release: 1,
    rollout: 'aaaaaaaaaaaa',
    state: 'pending',
    address: null,
    handle: null,
    exits: 0,
    lastExit: null,
    createdAt: AT,
    ...more,
  };
}

export function rollout(id: string, appName: string, more: Partial<Rollout> = {}): Rollout {
  return {
    id,
    app: appName,
    release: 1,
    reason: 'deploy',
    by: 'ann@example.com',
    state: 'starting',
    cause: null,
    startedAt: AT,
    finishedAt: null,
    failuresBefore: 0,
    failedRequests: null,
    ...more,
  };
}

export function deploy(id: string, appName: string, more: Partial<Deploy> = {}): Deploy {
  return {
    id,
    app: appName,
    state: 'received',
    commit: 'c0ffee',
    origin: 'git',
    by: 'ann@example.com',
    startedAt: AT,
    finishedAt: null,
    durationMs: 0,
    release: null,
    artifact: '',
    image: '',
    cause: null,
    error: '',
    warning: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
    ...more,
  };
}

export function event(id: string, more: Partial<PlatformEvent> = {}): PlatformEvent {
  return {
    id,
    at: AT,
    endedAt: LATER,
    actor: 'ann@example.com',
    address: '127.0.0.1',
    action: 'app.create',
    target: 'app:shop',
    detail: '{"pool":"default"}',
    error: '',
    isRefusal: false,
    token: 'session 0123456789abcdef',
    deploy: '',
    changes: [],
    ...more,
  };
}

/** Ann and Bob, the teams red (Ann) and blue (Bob), and the apps asked for, of team red. */
export async function populate(store: Store, ...apps: string[]): Promise<void> {
  await store.transact(async (tx) => {
    await tx.insertUser(user('ann@example.com', { isAdmin: true }));
    await tx.insertUser(user('bob@example.com'));
    await tx.insertTeam(team('red', 'ann@example.com'));
    await tx.insertTeam(team('blue', 'bob@example.com'));
    for (const name of apps) await tx.insertApp(app(name));
  });
}
