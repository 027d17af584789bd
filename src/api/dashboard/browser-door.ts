/**
 * The way in for the pages of the dashboard: `/dashboard/api/<path>` is `<path>` of the API, asked by whoever the session cookie names.
 * The cookie counts there and nowhere else, and only for requests that a page of this server has sent.
 */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../domain/errors.ts';
import { isLoopbackHost } from '../../lib/loopback-host.ts';
import { isPageOf } from '../caller.ts';

const BROWSER_PREFIX = '/dashboard/api';
/** Every request of the dashboard has it: pages of other sites cannot send it without being asked for permission first. */
const OWN_HEADER = 'x-tancho-dashboard';
const COOKIE = 'tancho-session';
/** Browsers take such a one from this very host alone: no app beside it can set it for all names below the domain. */
const HOST_COOKIE = `__Host-${COOKIE}`;
const MAX_COOKIES = 16_384;

/** Requests that came by this way -> whether a page of this server has sent them. */
const ENTERED = new WeakMap<IncomingMessage, boolean>();

/**
 * True when the request is one of the dashboard: then it has the path of the API, and the token of the cookie in place of whatever
 * `Authorization` it had. One that a page of this server did not send gets no token.
 */
export function enterFromBrowser(request: IncomingMessage): boolean {
  const url = request.url ?? '';
  if (!url.startsWith(`${BROWSER_PREFIX}/`)) return false;
  request.url = url.slice(BROWSER_PREFIX.length);
  const isOwn = isFromOwnPage(request);
  ENTERED.set(request, isOwn);
  const token = isOwn ? sessionOf(request) : '';
  // Never absent: over the unix socket that would be the owner of the machine.
  request.headers.authorization = token === '' ? 'bearer' : `bearer ${token}`;
  return true;
}

export function cameFromBrowser(request: IncomingMessage): boolean {
  return ENTERED.has(request);
}

/** Throws `access.denied` for what came by this way from elsewhere. */
export function demandOwnPage(request: IncomingMessage): void {
  if (ENTERED.get(request) !== false) return;
  throw new PlatformError('access.denied', 'Only pages of this server may ask here.', {
    hint: 'Open /dashboard, or call the API itself, without /dashboard/api before the path.',
  });
}

/**
 * A browser says with `Sec-Fetch-Site` where a request comes from, but not over plain HTTP to another machine. There `Origin` says it,
 * which a GET of the same origin does not have: it is known by a header that no other site can send.
 */
function isFromOwnPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin !== undefined) return isPageOf(origin, host);
  return headers[OWN_HEADER] !== undefined;
}

function sessionOf(request: IncomingMessage): string {
  const { cookie: cookies } = request.headers;
  if (cookies === undefined || cookies.length > MAX_COOKIES) return '';
  const wanted = comesByHttps(request) ? HOST_COOKIE : COOKIE;
  for (const cookie of cookies.split(';')) {
    const [name = '', value = ''] = cookie.trim().split('=', 2);
    if (name === wanted && /^[0-9a-f]{1,128}$/.test(value)) return value;
  }
  return '';
}

/** `Sec-Fetch-Site` is sent over HTTPS, and to this machine itself, where either name may have been given. */
function comesByHttps({ headers }: IncomingMessage): boolean {
  const { origin, host = '', cookie = '' } = headers;
  if (origin !== undefined) return origin.startsWith('https:');
  if (headers['sec-fetch-site'] === undefined) return false;
  return !isLoopbackHost(host) || cookie.includes(`${HOST_COOKIE}=`);
}

/** `token` null: takes the cookie away. `origin`: of the page, which says whether the way here is encrypted. */
export function sessionCookie(token: string | null, origin: string | undefined, seconds: number): string {
  const isSecure = origin?.startsWith('https:') === true;
  const parts = [
    `${isSecure ? HOST_COOKIE : COOKIE}=${token ?? ''}`,
    // The prefix asks for it; elsewhere the cookie means nothing.
    `Path=${isSecure ? '/' : BROWSER_PREFIX}`,
    `Max-Age=${token === null ? 0 : seconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ];
  return parts.join('; ');
}
