/** Authorization header -> Caller. Existing clients send `bearer <token>`, `Bearer <token>` or the bare token. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import { PlatformError } from '../domain/errors.ts';
import type { Users } from '../domain/users/users.ts';
import type { Ends } from '../lib/peer-user.ts';
import { clientEnds } from '../lib/trusted-proxies.ts';
import type { Access } from './operation.ts';

const OTHER_SITES: ReadonlySet<string> = new Set(['cross-site', 'same-site']);

/** Address of callers over the unix socket. */
export const SOCKET_ADDRESS = 'unix';

/** '' when there is no token; any scheme word before it is ignored. */
export function tokenOf(authorization: string | undefined): string {
  const parts = (authorization ?? '').trim().split(/ +/);
  return parts.length > 2 ? '' : (parts.at(-1) ?? '');
}

/** Who asks. A wrong or expired token makes nobody; without one, the unix socket speaks for the owner of the machine. */
export async function identify(users: Users, authorization: string | undefined, address: string): Promise<Caller> {
  const token = tokenOf(authorization);
  if (token !== '') return (await users.byToken(token, address)) ?? { kind: 'anonymous', address };
  if (address === SOCKET_ADDRESS && authorization === undefined) return users.machineOwner();
  return { kind: 'anonymous', address };
}

/**
 * The users of this machine that apps run as, and how to find who is at the other end of a connection: `gone` for who does not wait for the answer, null for nobody
 * of this machine.
 */
export interface AppUsers {
  readonly from: number;
  readonly to: number;
  userOf(ends: Ends): Promise<number | 'gone' | null>;
}

/**
 * Refuses what the users of apps send, straight or by way of the edge, without saying who they are: nobody's code may make itself an account, or try passwords, for running
 * here. Who has a token is who the token says.
 */
export async function refuseApps(request: IncomingMessage, apps: AppUsers | null): Promise<void> {
  if (apps === null) return;
  const ends = clientEnds(request);
  const uid = ends === null ? null : await apps.userOf(ends);
  if (uid === null || (uid !== 'gone' && (uid < apps.from || uid > apps.to))) return;
  throw new PlatformError('access.denied', 'Apps of this server cannot do this without a token.', {
    hint: 'Send the token of a user or of the app as "Authorization: bearer <token>".',
  });
}

/** Throws `auth.required` or `access.denied`: the rule of the route, before its body is even read. */
export function admit(caller: Caller, access: Access): void {
  if (access === 'public') return;
  if (caller.kind === 'anonymous') {
    throw new PlatformError('auth.required', 'You must provide a valid Authorization header', {
      hint: 'Log in with POST /users/<email>/tokens and send the token as "Authorization: bearer <token>".',
    });
  }
  if (caller.kind === 'app' && access === 'user') {
    throw new PlatformError('access.denied', 'An app token cannot do this.', { hint: 'Use the token of a user.' });
  }
}

type BrowserHeaders = Pick<IncomingHttpHeaders, 'sec-fetch-site' | 'origin' | 'host'>;

/**
 * Refuses what a page of another site makes a browser send. Nothing here is answered to a cookie, but accounts can be
 * created without a token, passwords tried, and the specification has GETs that change things. A browser that says no `Sec-Fetch-Site`,
 * over plain HTTP to another machine, says `Origin` with whatever is no GET.
 */
export function refuseCrossSite({ 'sec-fetch-site': site, origin, host }: BrowserHeaders): void {
  const isElsewhere = site === undefined ? origin !== undefined && !isPageOf(origin, host) : OTHER_SITES.has(site);
  if (!isElsewhere) return;
  throw new PlatformError('access.denied', 'Requests of other web sites are refused.', {
    hint: 'Call the API from a program, or from a page of the same origin.',
  });
}

/** Whether a page of this origin was loaded from the host that it asks. */
export function isPageOf(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
