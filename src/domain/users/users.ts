/** Use cases of users (specification 4.7): accounts, sessions, keys; and how every door recognises its caller. */
import { isLoopbackHost } from '../../lib/loopback-host.ts';
import type { Act } from '../act.ts';
import type { Caller, UserCaller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { MOST } from '../bounds.ts';
import type { AccountStore } from './account-store.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { type ApiKeys, createApiKeys } from './api-keys.ts';
import { type CallerRecognition, createAuthentication, wrongPassword } from './authentication.ts';
import type { News } from '../controls/news.ts';
import type { CallerCache } from './caller-cache.ts';
import { demandUser } from './demand-user.ts';
import { checkEmail, normalEmail } from './email.ts';
import { createKeys, type SshKeys } from './keys.ts';
import type { Mailer } from './mailer.ts';
import { createPasswordChanges, type PasswordChanges } from './password-changes.ts';
import { checkPassword, hashPassword } from './passwords.ts';
import { newSession } from './sessions.ts';
import type { User } from './user.ts';

const ONLY_USERS = 'Only a user can do this.';

export interface Users extends SshKeys, ApiKeys, PasswordChanges, Accounts, CallerRecognition {
  /**
   * `host`: by which name the platform was called, '' when that is not known; decides where registration is for this machine only.
   * Errors: user.invalid_email, user.invalid_password, user.email_taken, auth.registration_closed.
   */
  create(caller: Caller, input: { email: unknown; password: unknown }, host?: string): Promise<User>;
  /**
   * Password login. Errors: user.invalid_password (empty or null, 400), user.not_found, auth.wrong_password, auth.throttled.
   * Throttled per account and per address.
   */
  login(email: string, password: unknown, address: string): Promise<Login>;
  /** Ends the presented session only. */
  logout(caller: Caller): Promise<void>;
  /** Ends every session of the caller. */
  logoutEverywhere(caller: Caller): Promise<void>;
  info(caller: Caller): Promise<{ email: string; teams: string[] }>;
  /** True when anybody may create an account (auth.registration). */
  readonly registrationOpen: boolean;
}

interface Login {
  readonly token: string;
  readonly isAdmin: boolean;
  /** ISO 8601 UTC; the session ends then. */
  readonly expiresAt: string;
}

interface UsersDeps {
  readonly store: AccountStore;
  readonly act: Act;
  readonly now: () => Date;
  /** Shared with createTeams, which clears it when memberships change. */
  readonly callers: CallerCache;
  /** Of other controls. */
  readonly news?: News;
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
    ...createAccounts(deps),
    byToken: authentication.byToken,
    bySshKey: authentication.bySshKey,
    byPassword: authentication.byPassword,
    machineOwner: authentication.machineOwner,

    create(caller, input, host = '') {
      const isOpen = registrationOpen && (!registrationFromHereOnly || isLoopbackHost(host));
      const target = `user:${normalEmail(input.email)}`;
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
          await tx.deleteOldestSessions(user.email, MOST.sessionsOfUser - 1);
          await tx.insertSession(session);
        });
        return { token, isAdmin: user.isAdmin, expiresAt: session.expiresAt };
      });
    },

    async logout(caller) {
      const user = demandUser(caller, 'user.logout', ONLY_USERS);
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

    async logoutEverywhere(caller) {
      const { email } = demandUser(caller, 'user.logout', ONLY_USERS);
      await act(caller, 'user.logout', { email }, { target: `user:${email}`, detail: 'every session' }, async () => {
        await store.transact((tx) => tx.deleteSessionsOf(email, ''));
        callers.clear();
      });
    },

    async info(caller) {
      const { email } = demandUser(caller, 'user.info', ONLY_USERS);
      return { email, teams: await store.teamsOf(email) };
    },
  };
}

function sessionCaller(user: User, address: string): UserCaller {
  return { kind: 'user', email: user.email, isAdmin: user.isAdmin, teams: [], via: 'password', tokenHash: '', address };
}
