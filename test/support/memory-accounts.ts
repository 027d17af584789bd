/** Users, sessions, keys and teams in memory: the AccountStore for tests that are not about storage. */
import type { App } from '../../src/domain/apps/app.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Team } from '../../src/domain/teams/team.ts';
import type { AccountStore, AccountWriter } from '../../src/domain/users/account-store.ts';
import type { AppTokenReader } from '../../src/domain/app-tokens/app-token-store.ts';
import { KeyedQueue } from '../../src/lib/keyed-queue.ts';
import type { ApiKey, PasswordReset, Session, SshKey, User } from '../../src/domain/users/user.ts';

/** `apps` is shared with the memory apps, so that a team in use can be recognised. */
export function createMemoryAccounts(apps: ReadonlyMap<string, App>, { appToken }: AppTokenReader): AccountStore {
  const users = new Map<string, User>();
  const sessions = new Map<string, Session>();
  const keys = new Map<string, SshKey>();
  const teams = new Map<string, Team>();
  const apiKeys = new Map<string, ApiKey>();
  const resets = new Map<string, PasswordReset>();

  function changeMembers(name: string, change: (members: readonly string[]) => string[]): void {
    const team = teams.get(name);
    if (team === undefined) throw new PlatformError('team.not_found', 'Team not found.');
    teams.set(name, { ...team, members: change(team.members).sort() });
  }

  const writer: AccountWriter = {
    user: async (email) => users.get(email) ?? null,
    users: async () => [...users.values()],
    firstAdmin: async () => [...users.values()].find((user) => user.isAdmin) ?? null,
    session: async (hash, now) => [sessions.get(hash)].find((session) => session && session.expiresAt > now) ?? null,
    sshKeys: async (email) => [...keys.values()].filter((key) => key.email === email),
    apiKey: async (email) => apiKeys.get(email) ?? null,
    apiKeyOwner: async (hash) => [...apiKeys.values()].find((key) => key.keyHash === hash)?.email ?? null,
    appToken,
    sshKeyByFingerprint: async (fingerprint) => keys.get(fingerprint) ?? null,
    team: async (name) => teams.get(name) ?? null,
    teams: async (member) =>
      [...teams.values()]
        .filter(({ members }) => member === undefined || members.includes(member))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    teamsOf: async (email) =>
      [...teams.values()]
        .filter((team) => team.members.includes(email))
        .map((team) => team.name)
        .sort(),
    services: async () => [],
    instances: async () => [],
    apps: async (names) => [...apps.values()].filter((app) => !names || app.teams.some((team) => names.includes(team))),

    async insertUser(user) {
      if (users.has(user.email)) throw new PlatformError('user.email_taken', 'this email is already registered');
      users.set(user.email, user);
    },
    async updatePassword(email, passwordHash) {
      const user = users.get(email);
      if (user !== undefined) users.set(email, { ...user, passwordHash });
    },
    async setAdmin(email, isAdmin) {
      const user = users.get(email);
      if (user === undefined) throw new PlatformError('user.not_found', 'user not found');
      users.set(email, { ...user, isAdmin });
    },
    async deleteApiKey(email) {
      apiKeys.delete(email);
    },
    async deleteUser(email) {
      users.delete(email);
      apiKeys.delete(email);
      for (const [hash, reset] of resets) if (reset.email === email) resets.delete(hash);
      for (const [hash, session] of sessions) if (session.email === email) sessions.delete(hash);
      for (const [fingerprint, key] of keys) if (key.email === email) keys.delete(fingerprint);
      for (const name of teams.keys()) changeMembers(name, (members) => members.filter((member) => member !== email));
    },
    async insertSession(session) {
      sessions.set(session.tokenHash, session);
    },
    async deleteSession(tokenHash) {
      sessions.delete(tokenHash);
    },
    async deleteSessionsOf(email, keptHash) {
      const ended = [...sessions.values()].filter((one) => one.email === email && one.tokenHash !== keptHash);
      for (const session of ended) sessions.delete(session.tokenHash);
      return ended.length;
    },
    async putApiKey(key) {
      apiKeys.set(key.email, key);
    },
    async insertPasswordReset(reset) {
      resets.set(reset.tokenHash, reset);
    },
    async hasPasswordReset(hash, email, now) {
      const reset = resets.get(hash);
      return reset !== undefined && reset.email === email && reset.expiresAt > now;
    },
    async takePasswordReset(hash, email, now) {
      const reset = resets.get(hash);
      return reset !== undefined && reset.email === email && reset.expiresAt > now && resets.delete(hash);
    },
    async deletePasswordResets(email) {
      for (const [hash, reset] of resets) if (reset.email === email) resets.delete(hash);
    },
    async deleteExpiredPasswordResets(now) {
      const expired = [...resets.values()].filter((reset) => reset.expiresAt <= now);
      for (const reset of expired) resets.delete(reset.tokenHash);
      return expired.length;
    },
    async deleteExpiredSessions(now) {
      const expired = [...sessions.values()].filter((session) => session.expiresAt <= now);
      for (const session of expired) sessions.delete(session.tokenHash);
      return expired.length;
    },
    async deleteOldestSessions(email, kept) {
      const own = [...sessions.values()].filter((session) => session.email === email);
      const oldest = own.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)).slice(kept);
      for (const session of oldest) sessions.delete(session.tokenHash);
      return oldest.length;
    },
    async insertSshKey(key) {
      const sameName = [...keys.values()].some((other) => other.email === key.email && other.name === key.name);
      if (keys.has(key.fingerprint) || sameName) throw new PlatformError('key.taken', 'user already have this key');
      keys.set(key.fingerprint, key);
    },
    async deleteSshKey(email, fingerprint) {
      return keys.get(fingerprint)?.email === email && keys.delete(fingerprint);
    },
    async insertTeam(team) {
      if (teams.has(team.name)) throw new PlatformError('team.name_taken', 'team already exists');
      teams.set(team.name, team);
    },
    async deleteTeam(name) {
      teams.delete(name);
    },
    async addMember(name, email) {
      changeMembers(name, (members) => [...members, email]);
    },
    registryLogins: async () => [],
    putRegistryLogin: async () => {},
    deleteRegistryLogin: async () => false,
    deleteWebhooksOf: async () => undefined,
    async removeMember(name, email) {
      const was = teams.get(name)?.members.includes(email) ?? false;
      if (was) changeMembers(name, (members) => members.filter((member) => member !== email));
      return was;
    },
  };
  const turns = new KeyedQueue();
  return { ...writer, transact: (work) => turns.run('', () => work(writer)) };
}
