/** Use cases of who is there: the list of users, removing one (specification 4.7), and who is an admin. */
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { AccountStore, AccountWriter } from './account-store.ts';
import { userNotFound } from './authentication.ts';
import type { CallerCache } from './caller-cache.ts';
import { normalEmail } from './email.ts';
import type { User } from './user.ts';

export interface Accounts {
  /** Everybody for an admin, otherwise only the caller; sorted by e-mail. */
  list(caller: Caller): Promise<{ email: string; isAdmin: boolean; teams: string[] }[]>;
  /**
   * The caller, or for admins whom they name. Errors: input.invalid for an empty name, user.not_found, user.last_admin, user.owns_apps (details.apps),
   * user.last_member (details.teams).
   */
  remove(caller: Caller, email: string | undefined): Promise<void>;
  /** Makes a user an admin or takes it back, at once. Errors: user.not_found, user.last_admin. */
  setAdmin(caller: Caller, email: string, isAdmin: boolean): Promise<void>;
}

export function createAccounts(deps: { store: AccountStore; act: Act; callers: CallerCache }): Accounts {
  const { store, act, callers } = deps;

  return {
    async list(caller) {
      demand(caller, 'user.list');
      const own = caller.kind === 'user' && !caller.isAdmin ? caller.email : null;
      const [users, teams] = await Promise.all([store.users(), store.teams()]);
      return users
        .filter(({ email }) => own === null || email === own)
        .map(({ email, isAdmin }) => ({
          email,
          isAdmin,
          teams: teams.filter(({ members }) => members.includes(email)).map(({ name }) => name),
        }));
    },

    async setAdmin(caller, wanted, isAdmin) {
      const email = normalEmail(wanted);
      const options = {
        target: `user:${email}`,
        detail: isAdmin ? 'made an admin' : 'no longer an admin',
      };
      await act(caller, 'user.admin', { email }, options, async () => {
        await store.transact(async (tx) => {
          const user = await tx.user(email);
          if (user === null) throw userNotFound();
          if (!isAdmin) await refuseLastAdmin(tx, user);
          await tx.setAdmin(email, isAdmin);
        });
        callers.clear();
      });
    },

    async remove(caller, wanted) {
      if (wanted?.trim() === '') {
        throw new PlatformError('input.invalid', 'The e-mail of the user to remove is empty.', {
          hint: 'Name somebody, or leave the parameter out to remove yourself.',
        });
      }
      const own = caller.kind === 'user' ? caller.email : '';
      const email = wanted === undefined ? own : normalEmail(wanted);
      await act(caller, 'user.remove', { email }, { target: `user:${email}` }, async () => {
        await store.transact(async (tx) => {
          await refuseIfNeeded(tx, email);
          await tx.deleteWebhooksOf('user', email);
          await tx.deleteUser(email);
        });
        callers.clear();
      });
    },
  };
}

async function refuseLastAdmin(tx: AccountWriter, { email, isAdmin }: User): Promise<void> {
  if (!isAdmin || (await tx.users()).some((other) => other.isAdmin && other.email !== email)) return;
  throw new PlatformError('user.last_admin', 'This is the last admin of the platform.', {
    hint: 'Make somebody else an admin first: tancho user admin <email>',
  });
}

/** Throws when something would be left without anybody: the platform without admin, a team without member, an app without owner. */
async function refuseIfNeeded(tx: AccountWriter, email: string): Promise<void> {
  const user = await tx.user(email);
  if (user === null) throw userNotFound();
  await refuseLastAdmin(tx, user);
  const apps = (await tx.apps()).filter((app) => app.owner === email).map((app) => app.name);
  if (apps.length > 0) {
    throw new PlatformError(
      'user.owns_apps',
      `The user ${email} owns apps and cannot be removed: ${apps.join(', ')}.`,
      {
        hint: 'Remove these apps first.',
        details: { apps },
      },
    );
  }
  const teams = (await tx.teams())
    .filter((team) => team.members.length === 1 && team.members[0] === email)
    .map((team) => team.name);
  if (teams.length > 0) {
    throw new PlatformError(
      'user.last_member',
      `This user is the last member of ${teams.map((team) => `the team "${team}"`).join(', ')}, so it cannot be removed.`,
      { hint: 'Remove the team, or add another member, then remove the user.', details: { teams } },
    );
  }
}
