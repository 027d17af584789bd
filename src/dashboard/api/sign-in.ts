import { call } from './call.ts';
import { readAgain } from './connection.ts';
import { Problem } from './problem.ts';
import { hasExpired, session, viewer } from './session.ts';

const RECOGNISE_MS = 15_000;

/** Asks the server who this is. */
export async function recognise(stop?: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(RECOGNISE_MS);
  const signal = stop === undefined ? late : AbortSignal.any([stop, late]);
  try {
    const { Email: email, Teams: teams } = await call('GET /users/info', { signal });
    const known = await call('GET /users', { query: { userEmail: email }, signal });
    session.value = { email, teams, isAdmin: known.some(({ Email, Admin }) => Email === email && Admin) };
  } catch (thrown) {
    if (!(thrown instanceof Problem) || thrown.status !== 401) throw thrown;
    session.value = 'none';
  }
}

export async function signIn(email: string, password: string): Promise<void> {
  const before = viewer();
  await call('POST /auth/session', { body: { email, password } });
  await recognise();
  if (!hasExpired.value) return;
  // What the one before had on the screen is not for the next.
  if (viewer().email !== before.email) location.reload();
  hasExpired.value = false;
  readAgain();
}

/** Nothing of the session is left in the page: it begins anew. */
export async function signOut(everywhere: boolean): Promise<void> {
  if (everywhere) await call('DELETE /users/sessions');
  else await call('DELETE /auth/session');
  location.reload();
}
