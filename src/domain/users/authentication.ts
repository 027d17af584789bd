/**
 * How every door recognises its caller: session, API key, app token, SSH key, password, unix socket. Changes nothing but
 * the throttle.
 */
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import type { Caller, UserCaller } from '../caller.ts';
import { isPlatformError, PlatformError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';
import type { CallerCache } from './caller-cache.ts';
import { normalEmail } from './email.ts';
import { passwordMatches } from './passwords.ts';
import { hashToken } from './sessions.ts';
import type { News } from '../controls/news.ts';
import { networkOf, Throttle } from './throttle.ts';
import type { User } from './user.ts';

/** Until when the answer for an API key is good, as far as the key is concerned. */
const NEVER = '9999-12-31T23:59:59.999Z';

export interface CallerRecognition {
  /** Token of an Authorization header -> caller; null when unknown or expired. */
  byToken(token: string, address: string): Promise<Caller | null>;
  /** `SHA256:...` fingerprint of a key whose possession the SSH door has verified; null when unknown. */
  bySshKey(fingerprint: string, address: string): Promise<UserCaller | null>;
  /** For git over HTTP: the password or any token of the user; null when wrong. Throttled like login. */
  byPassword(email: string, secret: string, address: string): Promise<UserCaller | null>;
  /** The owner of the machine, over the unix socket: acts as the longest-standing admin. */
  machineOwner(): Promise<UserCaller>;
}

interface Authentication extends CallerRecognition {
  /** The user whose password this is, or why not. Errors: user.not_found, auth.wrong_password, auth.throttled. */
  verifyPassword(email: string, password: string, address: string): Promise<User>;
}

export function createAuthentication(deps: {
  store: AccountStore;
  callers: CallerCache;
  news?: News;
  now: () => Date;
}): Authentication {
  const { store, callers, news, now } = deps;
  const throttle = new Throttle(now, news);
  const attempts = new KeyedQueue();

  async function callerOf(user: User, via: UserCaller['via'], address: string): Promise<UserCaller> {
    const teams = await store.teamsOf(user.email);
    return { kind: 'user', email: user.email, isAdmin: user.isAdmin, teams, via, tokenHash: '', address };
  }

  async function byUserToken(tokenHash: string, address: string): Promise<UserCaller | null> {
    const known = callers.get(tokenHash);
    if (known !== null) return { ...known, address };
    const generation = callers.generation;
    const session = await store.session(tokenHash, now().toISOString());
    const email = session === null ? await store.apiKeyOwner(tokenHash) : session.email;
    const user = email === null ? null : await store.user(email);
    if (user === null) return null;
    const caller = { ...(await callerOf(user, session === null ? 'api-key' : 'session', address)), tokenHash };
    callers.put(caller, session?.expiresAt ?? NEVER, generation);
    return caller;
  }

  async function byToken(token: string, address: string): Promise<Caller | null> {
    const tokenHash = hashToken(token);
    if (tokenHash === '') return null;
    const user = await byUserToken(tokenHash, address);
    if (user !== null) return user;
    const appToken = await store.appToken(tokenHash, now().toISOString());
    return appToken === null ? null : { kind: 'app', app: appToken.app, by: appToken.by, tokenHash, address };
  }

  /** One attempt at a time per address and per account, so that guesses sent all at once count like guesses sent one by one. */
  function attempt(account: string, address: string, password: string): Promise<User> {
    const judge = async (): Promise<User> => {
      throttle.check(account, address);
      const user = await store.user(account);
      if (!(await passwordMatches(user?.passwordHash ?? null, password)) || user === null) {
        throttle.failed(account, address);
        throw user === null ? userNotFound() : wrongPassword();
      }
      throttle.succeeded(account, address);
      return user;
    };
    return attempts.run(`address ${networkOf(address)}`, () => attempts.run(`account ${account}`, judge));
  }

  return {
    byToken,

    async verifyPassword(email, password, address) {
      const account = normalEmail(email);
      throttle.check(account, address);
      return attempt(account, address, password);
    },

    async bySshKey(fingerprint, address) {
      const key = await store.sshKeyByFingerprint(fingerprint);
      const user = key === null ? null : await store.user(key.email);
      return user === null ? null : callerOf(user, 'ssh-key', address);
    },

    async byPassword(email, secret, address) {
      const account = normalEmail(email);
      const tokenHash = hashToken(secret);
      const owner = tokenHash === '' ? null : await byUserToken(tokenHash, address);
      if (owner !== null && owner.email === account) return owner;
      throttle.check(account, address);
      try {
        return await callerOf(await attempt(account, address, secret), 'password', address);
      } catch (error) {
        if (isPlatformError(error, 'user.not_found') || isPlatformError(error, 'auth.wrong_password')) return null;
        throw error;
      }
    },

    async machineOwner() {
      const admin = await store.firstAdmin();
      if (admin === null) throw noAdmin();
      return callerOf(admin, 'socket', 'unix');
    },
  };
}

export function userNotFound(): PlatformError {
  return new PlatformError('user.not_found', 'user not found', { hint: 'Check the spelling of the e-mail address.' });
}

export function wrongPassword(): PlatformError {
  return new PlatformError('auth.wrong_password', 'Authentication failed, wrong password.', {
    hint: 'Check the password and try again.',
  });
}

function noAdmin(): PlatformError {
  return new PlatformError('user.not_found', 'This platform has no admin yet.', {
    hint: 'Start the server once; it creates the first admin.',
  });
}
