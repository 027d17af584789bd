import { type Action, demand } from '../access.ts';
import type { Caller, UserCaller } from '../caller.ts';
import { PlatformError } from '../errors.ts';

/** The caller as a user; the platform itself is refused too, for it has no account. `message` says what only a user has. */
export function demandUser(caller: Caller, action: Action, message: string): UserCaller {
  demand(caller, action);
  if (caller.kind === 'user') return caller;
  throw new PlatformError('access.denied', message, { hint: 'Log in as a user.' });
}
