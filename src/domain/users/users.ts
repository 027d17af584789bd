/** Use cases of users (specification 4.7): accounts, sessions, keys; and how every door recognises its caller. */
import { isLoopbackHost } from '../../lib/loopback-host.ts';
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import type { Caller, UserCaller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';
import { createApiKeys } from './api-keys.ts';
import { createAuthentication, wrongPassword } from './authentication.ts';
import type { CallerCache } from './caller-cache.ts';
import { checkEmail, normalEmail } from './email.ts';
import { createKeys } from './keys.ts';
import type { Mailer } from './mailer.ts';
import { createPasswordChanges } from './password-changes.ts';
import { checkPassword, hashPassword } from './passwords.ts';
import { createUserRemoval } from './removal.ts';
import { newSession } from './sessions.ts';
import type { ApiKey, SshKey, User } from './user.ts';

export interface Users {
  /** Errors: user.invalid_email, user.invalid_password, user.email_taken, auth.registration_closed. */
  /** `host`: by which name the platform was called, '' when that is not known; decides where registration is for this machine only. */
  create(caller: Caller, input: { email: unknown; password: unknown }, host?: string): Promise<User>;
  /**
   * Password login. Errors: user.invalid_password (empty or null, 400), user.not_found, auth.wrong_password, auth.throttled.
   * Throttled per account and per address.
   */
  login(email: string, password: unknown, address: string): Promise<{ token: string; isAdmin: boolean }>;
  /** Ends the presented session only. */
  logout(caller: Caller): Promise<void>;
  info(caller: Caller): Promise<{ email: string; teams: string[] }>;
  /** Everybody for an admin, otherwise only the caller; sorted by e-mail. */
  list(caller: Caller): Promise<{ email: string; isAdmin: boolean; teams: string[] }[]>;
  /**
   * Ends all sessions but the presented one, and pending resets. Errors: user.invalid_password, user.password_mismatch
   * (checked before the length of the new one), auth.throttled.
   */
  changePassword(caller: Caller, input: { old: unknown; new: unknown; confirm?: unknown }): Promise<void>;
  /**
   * Without `token` ('') mails one. With one sets `password`, or, if there is none, a random one that is mailed, and ends
   * all sessions and the API key. Errors: user.not_found, user.invalid_reset_token, user.invalid_password, auth.throttled; those of Mailer.
   */
  resetPassword(
    caller: Caller,
    input: { email: string; token: string; password: unknown; address: string },
  ): Promise<void>;
  /**
   * The caller, or for admins whom they name. Errors: user.not_found, user.last_admin, user.owns_apps (details.apps),
   * user.last_member (details.teams).
   */
  remove(caller: Caller, email: string | undefined): Promise<void>;
  /** Makes a user an admin or takes it back, at once. Errors: user.not_found, user.last_admin. */
  setAdmin(caller: Caller, email: string, isAdmin: boolean): Promise<void>;
  /** Made on first use. */
  apiKey(caller: Caller): Promise<ApiKey>;
  /** The old one is void at once. */
  regenerateApiKey(caller: Caller): Promise<ApiKey>;
  addKey(caller: Caller, input: { key: unknown; name?: unknown; force?: unknown }): Promise<SshKey>;
  /** By key text or by name. */
  removeKey(caller: Caller, input: { key?: unknown; name?: unknown }): Promise<void>;
  keys(caller: Caller): Promise<SshKey[]>;

  /** Token of an Authorization header -> caller; null when unknown or expired. */
  byToken(token: string, address: string): Promise<Caller | null>;
  /** `SHA256:...` fingerprint of a key whose possession the SSH door has verified; null when unknown. */
  bySshKey(fingerprint: string, address: string): Promise<UserCaller | null>;
  /** For git over HTTP: the password or any token of the user; null when wrong. Throttled like login. */
  byPassword(email: string, secret: string, address: string): Promise<UserCaller | null>;
  /** The owner of the machine, over the unix socket: acts as the longest-standing admin. */
  machineOwner(): Promise<UserCaller>;
  /** True when anybody may create an account (auth.registration). */
  readonly registrationOpen: boolean;
}

export interface UsersDeps {
  readonly store: AccountStore;
  readonly act: Act;
  readonly now: () => Date;
  /** Shared with createTeams, which clears it when memberships change. */
  readonly callers: CallerCache;
  readonly mailer: Mailer;
  readonly registrationOpen: boolean;
  /** Registration is open to those only who call the platform by a name of the machine they are on. */
  readonly registrationFromHereOnly?: boolean;
  readonly sessionDays: number;
}

export function createUsers(deps: UsersDeps): Users {
  const { store, act, now, callers, registrationOpen, registrationFromHereOnly = false, sessionDays } = deps;
  const authentication = createAuthentication(deps);

  return {
    registrationOpen,
    ...createKeys(deps),
    ...createApiKeys(deps),
    ...createPasswordChanges({ ...deps, verifyPassword: authentication.verifyPassword }),
    ...createUserRemoval(deps),
    byToken: authentication.byToken,
    bySshKey: authentication.bySshKey,
    byPassword: authentication.byPassword,
    machineOwner: authentication.machineOwner,

    create(caller, input, host = '') {
      const isOpen = registrationOpen && (!registrationFromHereOnly || isLoopbackHost(host));
      const target = `user:${normalEmail(input.email).slice(0, 254)}`;
      return act(caller, 'user.create', { registrationOpen: isOpen }, { target }, async () => {
        const email = checkEmail(input.email);
        const passwordHash = await hashPassword(checkPassword(input.password));
        const user: User = { email, passwordHash, isAdmin: false, createdAt: now().toISOString() };
        await store.transact((tx) => tx.insertUser(user));
        return user;
      });
    },

    async login(email, password, address) {
      if (typeof password !== 'string' || password === '') {
        throw new PlatformError('user.invalid_password', 'you must provide a password to login', {
          hint: 'Send the password as the field "password".',
        });
      }
      const user = await authentication.verifyPassword(email, password, address);
      const caller = sessionCaller(user, address);
      return act(caller, 'user.login', { email: user.email }, { target: `user:${user.email}` }, async () => {
        const { token, session } = newSession(user.email, now(), sessionDays);
        await store.transact(async (tx) => {
          // A change of the password in the meantime has ended all sessions; this one must not come after it.
          if ((await tx.user(user.email))?.passwordHash !== user.passwordHash) throw wrongPassword();
          await tx.deleteExpiredSessions(session.createdAt);
          await tx.insertSession(session);
        });
        return { token, isAdmin: user.isAdmin };
      });
    },

    async logout(caller) {
      const user = userOf(caller, 'user.logout');
      await act(caller, 'user.logout', { email: user.email }, { target: `user:${user.email}` }, async () => {
        if (user.via !== 'session') {
          throw new PlatformError('input.invalid', 'This request does not belong to a session, so none can be ended.', {
            hint: 'Send the token that login gave you.',
          });
        }
        await store.transact((tx) => tx.deleteSession(user.tokenHash));
        callers.clear();
      });
    },

    async info(caller) {
      const { email } = userOf(caller, 'user.info');
      return { email, teams: await store.teamsOf(email) };
    },
  };
}

function sessionCaller(user: User, address: string): UserCaller {
  return { kind: 'user', email: user.email, isAdmin: user.isAdmin, teams: [], via: 'password', tokenHash: '', address };
}

/** The caller as a user; everybody else is refused, the platform itself too, for it has no account. */
function userOf(caller: Caller, action: 'user.logout' | 'user.info'): UserCaller {
  demand(caller, action);
  if (caller.kind === 'user') return caller;
  throw new PlatformError('access.denied', 'Only a user can do this.', { hint: 'Log in as a user.' });
}
