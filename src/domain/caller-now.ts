/** Who asks, as of now: what was true when a request began need not be when its turn comes, or while it goes on. */
import type { AppTokenReader } from './app-tokens/app-token-store.ts';
import type { Caller, UserCaller } from './caller.ts';
import type { TeamReader } from './teams/team-store.ts';
import type { UserReader } from './users/user-store.ts';

export type CallerStore = Pick<UserReader, 'user' | 'session' | 'apiKeyOwner'> &
  Pick<TeamReader, 'teamsOf'> &
  Pick<AppTokenReader, 'appToken'>;

/** With the teams and rights of now; anonymous when the account, or what the caller has shown, is void. `at`: ISO 8601 UTC. */
export async function callerNow(store: CallerStore, caller: Caller, at: string): Promise<Caller> {
  if (caller.kind === 'app') {
    const token = await store.appToken(caller.tokenHash, at);
    return token?.app === caller.app ? caller : { kind: 'anonymous', address: caller.address };
  }
  if (caller.kind !== 'user') return caller;
  const user = await store.user(caller.email);
  if (user === null || !(await isShownValid(store, caller, at))) return { kind: 'anonymous', address: caller.address };
  return { ...caller, isAdmin: user.isAdmin, teams: await store.teamsOf(caller.email) };
}

async function isShownValid(store: CallerStore, { via, tokenHash, email }: UserCaller, at: string): Promise<boolean> {
  if (via === 'session') return (await store.session(tokenHash, at))?.email === email;
  if (via === 'api-key') return (await store.apiKeyOwner(tokenHash)) === email;
  return true;
}
