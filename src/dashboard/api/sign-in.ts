import { call } from './call.ts';
import { Problem } from './problem.ts';
import { hasExpired, session } from './session.ts';

/** Asks the server who this is. */
export async function recognise(): Promise<void> {
  try {
    const { Email: email, Teams: teams } = await call('GET /users/info');
    const known = await call('GET /users', { query: { userEmail: email } });
    session.value = { email, teams, isAdmin: known.some(({ Email, Admin }) => Email === email && Admin) };
    hasExpired.value = false;
  } catch (thrown) {
    if (!(thrown instanceof Problem) || thrown.status !== 401) throw thrown;
    session.value = 'none';
  }
}

export async function signIn(email: string, password: string): Promise<void> {
  await call('POST /auth/session', { body: { email, password } });
  await recognise();
}

export async function signOut(everywhere: boolean): Promise<void> {
  if (everywhere) await call('DELETE /users/sessions');
  else await call('DELETE /auth/session');
  hasExpired.value = false;
  session.value = 'none';
}
