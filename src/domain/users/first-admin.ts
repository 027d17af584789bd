import { randomBytes } from 'node:crypto';
import type { AccountStore } from './account-store.ts';
import { checkEmail } from './email.ts';
import { isPlatformError } from '../errors.ts';
import { checkPassword, hashPassword } from './passwords.ts';

const PASSWORD_BYTES = 18;
/** An app belongs to a team, so that the first admin can create one at once there is this one. */
const FIRST_TEAM = 'main';

/**
 * Makes sure that somebody can administer the platform. Resolves to null when there is an admin already; otherwise to the
 * new one with its password, generated unless given: the only moment at which it can be shown. Called before the doors open.
 * Errors: user.invalid_email, user.invalid_password, user.email_taken.
 */
export async function ensureFirstAdmin(
  deps: { store: AccountStore; now: () => Date },
  admin: { email: string; password: string | null },
): Promise<{ email: string; password: string; generated: boolean } | null> {
  if ((await deps.store.firstAdmin()) !== null) return null;
  const email = checkEmail(admin.email);
  const password = checkPassword(admin.password ?? randomBytes(PASSWORD_BYTES).toString('base64url'));
  const passwordHash = await hashPassword(password);
  const createdAt = deps.now().toISOString();
  try {
    await deps.store.transact(async (tx) => {
      await tx.insertUser({ email, passwordHash, isAdmin: true, createdAt });
      if ((await tx.teams()).length === 0) await tx.insertTeam({ name: FIRST_TEAM, createdAt, members: [email] });
    });
  } catch (error) {
    // Another server that starts at the same time was first.
    if (isPlatformError(error, 'user.email_taken') && (await deps.store.firstAdmin()) !== null) return null;
    throw error;
  }
  return { email, password, generated: admin.password === null };
}
