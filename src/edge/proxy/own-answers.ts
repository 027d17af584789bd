import type { RequestHead } from '../http/request-head.ts';
import type { OwnAnswer } from '../rewrite/own-answer.ts';
import type { RequestOrigin } from '../rewrite/request-origin.ts';
import type { LiveRoute } from '../routing/route-table.ts';
import type { Plane } from './plane.ts';
import { hasTable, NO_TABLE } from './refusals.ts';
import { RoutedRequest } from './routed-request.ts';

/** Where balancers ask how the edge is, by its address or any name that no app has. */
const HEALTH_PATH = '/healthcheck';
const HTTPS_PORT = 443;
const REDIRECT = 308;

type EdgeAnswer = Pick<OwnAnswer, 'status' | 'type' | 'body' | 'fields'>;

/** What the edge itself has to say to a request before any unit is asked: to an authority's challenge, of its health, or that it is to come by HTTPS. */
export function ownAnswerTo(
  plane: Plane,
  head: RequestHead,
  { route, origin }: { readonly route: LiveRoute | null; readonly origin: RequestOrigin },
): EdgeAnswer | null {
  const challenge = plane.certificates.challengeAnswer(head.host.name, head.target);
  if (challenge !== null) return { status: 200, type: 'text/plain', body: challenge, fields: '' };
  if (route === null) return head.target === HEALTH_PATH ? healthAnswer(plane) : null;
  const location = httpsLocation(plane, head, { route, origin });
  if (location === null) return null;
  return { status: REDIRECT, type: 'text/plain', body: `${location}\n`, fields: `Location: ${location}\r\n` };
}

function healthAnswer({ table, draining }: Plane): EdgeAnswer {
  const trouble = draining ? 'This edge is about to end.' : hasTable(table) ? null : NO_TABLE.detail;
  const [status, body] = trouble === null ? [200, 'WORKING'] : [NO_TABLE.status, trouble];
  return { status, type: 'text/plain', body: `${body}\n`, fields: 'Cache-Control: no-store\r\n' };
}

/** Who is sent to HTTPS has asked the app for something; an authority has not. */
export function noteOwnAnswer(
  plane: Plane,
  { status, body }: EdgeAnswer,
  asked: Pick<RoutedRequest, 'head' | 'requestId' | 'origin'> & { readonly route: LiveRoute | null },
): void {
  const { head, requestId, origin, route } = asked;
  if (route === null || status !== REDIRECT) return;
  const request = new RoutedRequest(head, requestId, origin, route);
  if (head.method !== 'HEAD') request.bytes = Buffer.byteLength(body);
  request.answered(status);
  request.log(plane.accessLog, '');
  request.ended();
}

/** Where a request that came in plain HTTP is sent to; null: it is served. */
function httpsLocation(
  { certificates, tlsPort }: Plane,
  { host, target }: RequestHead,
  { route, origin }: { readonly route: LiveRoute; readonly origin: RequestOrigin },
): string | null {
  if (tlsPort === 0 || origin.isSecure || route.https === 'both' || target === '*') return null;
  if (certificates.match(host.name) === null) return null;
  return `https://${host.name}${tlsPort === HTTPS_PORT ? '' : `:${tlsPort}`}${target}`;
}
