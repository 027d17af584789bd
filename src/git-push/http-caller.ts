/** Who is at the other end of a git request over HTTP. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import { PlatformError } from '../domain/errors.ts';
import { normalEmail } from '../domain/users/email.ts';
import type { Users } from '../domain/users/users.ts';
import type { TrustedProxies } from '../lib/trusted-proxies.ts';

const MAX_HEADER = 4_096;

export interface GitLogins {
  readonly users: Pick<Users, 'byToken' | 'byPassword'>;
  /** Throws for what apps of this machine send: their code may try no passwords. */
  readonly refuseApps: (request: IncomingMessage) => Promise<void>;
}

/** Throws `auth.required` without credentials, `auth.wrong_password` with wrong ones, and what `refuseApps` throws. */
export async function callerOf(
  request: IncomingMessage,
  { users, refuseApps }: GitLogins,
  proxies: TrustedProxies,
): Promise<Caller> {
  const address = proxies.clientOf(request);
  const [, scheme = '', credentials = ''] = /^(\w+) +(\S+)\s*$/.exec(authorization(request)) ?? [];
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return known(await users.byToken(credentials, address));
    case 'basic': {
      const plain = Buffer.from(credentials, 'base64').toString();
      const colon = plain.indexOf(':');
      const [user, secret] = [plain.slice(0, Math.max(colon, 0)), plain.slice(colon + 1)];
      if (secret === '') throw required();
      // Without an e-mail only a token can say who it is: https://git:<token>@host/...
      const owner = await users.byToken(secret, address);
      if (!user.includes('@')) return known(owner);
      if (owner?.kind === 'user' && owner.email === normalEmail(user)) return owner;
      await refuseApps(request);
      return known(await users.byPassword(user, secret, address));
    }
    default:
      throw required();
  }
}

function authorization(request: IncomingMessage): string {
  const value = request.headers.authorization ?? '';
  return value.length > MAX_HEADER ? '' : value;
}

function known(caller: Caller | null): Caller {
  if (caller !== null) return caller;
  throw new PlatformError('auth.wrong_password', 'The e-mail or the token is wrong.', {
    hint: 'Give your e-mail as the user name, and a token or your password as the password.',
  });
}

function required(): PlatformError {
  return new PlatformError(
    'auth.required',
    'Give your e-mail as the user name, and a token or your password as the password.',
  );
}
