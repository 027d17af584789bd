/** The first start of a new home: the first admin and the team that the first apps belong to. */
import type { Store } from './store.ts';

const FIRST_TEAM = 'main';

export interface FirstStartDeps {
  readonly store: Store;
  readonly now: () => Date;
  readonly hashPassword: (password: string) => Promise<string>;
  readonly generatePassword: () => string;
}

/** Null when there are users already. Otherwise who was created, with the password in the clear for the one time it is shown. */
export async function ensureFirstAdmin(
  deps: FirstStartDeps,
  wanted: { email: string; password: string | null },
): Promise<{ email: string; password: string } | null> {
  const { store, now } = deps;
  if ((await store.firstAdmin()) !== null) return null;
  const email = wanted.email.toLowerCase();
  const password = wanted.password ?? deps.generatePassword();
  const passwordHash = await deps.hashPassword(password);
  const createdAt = now().toISOString();
  await store.transact(async (tx) => {
    await tx.insertUser({ email, passwordHash, isAdmin: true, createdAt });
    if ((await tx.team(FIRST_TEAM)) === null) await tx.insertTeam({ name: FIRST_TEAM, createdAt, members: [email] });
  });
  return { email, password };
}
