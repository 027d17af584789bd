/** Use cases of forgotten and changed passwords (specification 4.7). Either way of changing one ends sessions. */
import { randomBytes } from 'node:crypto';
import { randomHex } from '../../lib/ids.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import type { Act } from '../act.ts';
import type { Caller } from '../caller.ts';
import { isPlatformError, PlatformError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';
import { userNotFound } from './authentication.ts';
import type { CallerCache } from './caller-cache.ts';
import { demandUser } from './demand-user.ts';
import { normalEmail } from './email.ts';
import type { Mailer } from './mailer.ts';
import { checkPassword, hashPassword } from './passwords.ts';
import { hashToken, TOKEN_DIGITS } from './sessions.ts';
import type { News } from '../controls/news.ts';
import { Throttle } from './throttle.ts';
import type { User } from './user.ts';

const RESET_HOURS = 24;
const HOUR_MS = 3_600_000;
const RANDOM_PASSWORD_BYTES = 12;

export interface PasswordChanges {
  /**
   * Ends all sessions and the API key, but for what is presented, and pending resets. Errors: user.invalid_password, user.password_mismatch
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
}

interface PasswordChangesDeps {
  readonly store: AccountStore;
  readonly act: Act;
  readonly now: () => Date;
  readonly callers: CallerCache;
  readonly news?: News;
  readonly mailer: Mailer;
  /** See createAuthentication. */
  verifyPassword(email: string, password: string, address: string): Promise<User>;
}

export function createPasswordChanges(deps: PasswordChangesDeps): PasswordChanges {
  const { store, act, now, callers, news, mailer, verifyPassword } = deps;
  // Counts letters, before they are sent, and wrong tokens; a good token is free.
  const throttle = new Throttle(now, news, 'Too many requests for new passwords.');

  const turns = new KeyedQueue();

  async function mailToken(caller: Caller, user: User): Promise<void> {
    const { email } = user;
    await act(caller, 'user.reset', { email }, { target: `user:${email}`, detail: 'token sent' }, async () => {
      const token = randomHex(TOKEN_DIGITS);
      const createdAt = now().toISOString();
      const expiresAt = new Date(now().getTime() + RESET_HOURS * HOUR_MS).toISOString();
      await store.transact(async (tx) => {
        await tx.deleteExpiredPasswordResets(createdAt);
        await tx.insertPasswordReset({ tokenHash: hashToken(token), email, createdAt, expiresAt });
      });
      await mailer.send({ to: email, subject: 'Your new password', text: tokenText(email, token) });
    });
  }

  /** One after the other: a token that is sent twice at once is to mail one password. */
  function useToken(caller: Caller, user: User, token: string, wanted: string | null): Promise<void> {
    return turns.run(user.email, () => setPassword(caller, user, token, wanted));
  }

  async function setPassword(caller: Caller, { email }: User, token: string, wanted: string | null): Promise<void> {
    await act(caller, 'user.reset', { email }, { target: `user:${email}`, detail: 'password set' }, async () => {
      const password = wanted ?? randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url');
      const passwordHash = await hashPassword(password);
      const tokenHash = hashToken(token);
      // First: who does not get the new one is not to lose the old one.
      if (wanted === null) {
        const at = now().toISOString();
        if (!(await store.transact((tx) => tx.hasPasswordReset(tokenHash, email, at)))) throw invalidToken();
        await mailer.send({ to: email, subject: 'Your new password', text: passwordText(password) });
      }
      await store.transact(async (tx) => {
        if (!(await tx.takePasswordReset(tokenHash, email, now().toISOString()))) throw invalidToken();
        await tx.deletePasswordResets(email);
        await tx.updatePassword(email, passwordHash);
        await tx.deleteSessionsOf(email, '');
        // Whoever had to ask for a new password may have lost more than the password.
        await tx.deleteApiKey(email);
      });
      callers.clear();
    });
  }

  return {
    async changePassword(caller, input) {
      const { email, address, tokenHash, via } = demandUser(caller, 'user.password', 'Only a user has a password.');
      await act(caller, 'user.password', { email }, { target: `user:${email}` }, async () => {
        const [old, wanted] = bothPasswords(input);
        const user = await verifyPassword(email, old, address).catch(rethrowMismatch);
        const passwordHash = await hashPassword(checkPassword(wanted));
        await store.transact(async (tx) => {
          // Whoever was faster has changed what was verified above.
          if ((await tx.user(email))?.passwordHash !== user.passwordHash) throw mismatch();
          await tx.updatePassword(email, passwordHash);
          await tx.deletePasswordResets(email);
          await tx.deleteSessionsOf(email, tokenHash);
          if (via !== 'api-key') await tx.deleteApiKey(email);
        });
        callers.clear();
      });
    },

    async resetPassword(caller, input) {
      const email = normalEmail(input.email);
      const { token } = input;
      const wanted = token === '' || isNothing(input.password) ? null : checkPassword(input.password);
      throttle.check(email, input.address);
      const count = (): void => throttle.failed(email, input.address);
      if (token === '') count();
      const user = await store.user(email);
      if (user !== null && token === '') return mailToken(caller, user);
      try {
        if (user === null) throw userNotFound();
        await useToken(caller, user, token, wanted);
      } catch (error) {
        const isWrong = isPlatformError(error, 'user.not_found') || isPlatformError(error, 'user.invalid_reset_token');
        if (isWrong && token !== '') count();
        throw error;
      }
    },
  };
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Specification 4.7: empty or null is 400, and only then is the old one compared, before the length of the new one. */
function bothPasswords(input: { old: unknown; new: unknown; confirm?: unknown }): [string, string] {
  const { old, new: wanted, confirm } = input;
  if (typeof old !== 'string' || typeof wanted !== 'string' || old === '' || wanted === '') {
    throw new PlatformError('user.invalid_password', 'Both the old and the new passwords are required.', {
      hint: 'Send the fields "old" and "new".',
    });
  }
  if (!isNothing(confirm) && confirm !== wanted) {
    throw new PlatformError('user.invalid_password', 'The new password and its confirmation differ.', {
      hint: 'Type the new password twice, or leave the confirmation out.',
    });
  }
  return [old, wanted];
}

/** A wrong old password is 403: 401 would make clients log in again and repeat the request (specification 4.7 and 7). */
function rethrowMismatch(thrown: unknown): never {
  throw isPlatformError(thrown, 'auth.wrong_password') ? mismatch() : thrown;
}

function mismatch(): PlatformError {
  return new PlatformError('user.password_mismatch', "the given password didn't match the user's current password", {
    hint: 'Check the old password, or ask for a new one with "tancho user reset <email>".',
  });
}

function invalidToken(): PlatformError {
  return new PlatformError('user.invalid_reset_token', 'Invalid token', {
    hint: 'A token works once, for 24 hours; ask for another with "tancho user reset <email>".',
  });
}

/** Lines of at most 76 characters, which travel as they are: the outbox is read as plain text. */
function tokenText(email: string, token: string): string {
  return `Somebody, probably you, asked for a new password on a Tancho platform.

To choose one:

  tancho user reset ${email} \\
  --token ${token}

or open the dashboard, where "I have a token" asks for it, or send a POST
request to /users/<your e-mail>/password with the token as "token" of its
JSON body; without "password" in it, a random one is set and mailed to you.

The token works once, within ${RESET_HOURS} hours. Your old password stays valid until
then. If you did not ask for this, there is nothing to do.
`;
}

function passwordText(password: string): string {
  return `Your new password on a Tancho platform is

  ${password}

Everything that was logged in with the old one is logged out, and your API key is
void; your SSH keys stay. To choose another password:

  tancho user password
`;
}
