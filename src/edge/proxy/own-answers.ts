import type { RequestHead } from '../http/request-head.ts';
import type { OwnAnswer } from '../rewrite/own-answer.ts';
import type { RequestOrigin } from '../rewrite/request-origin.ts';
import type { LiveRoute } from '../routing/route-table.ts';
import type { Plane } from './plane.ts';
import { RoutedRequest } from './routed-request.ts';

const HTTPS_PORT = 443;
const REDIRECT = 308;

type EdgeAnswer = Pick<OwnAnswer, 'status' | 'type' | 'body' | 'fields'>;

/** What the edge itself has to say to a request before any unit is asked: to an authority's challenge, or that it is to come by HTTPS. */
export function ownAnswerTo(
  plane: Plane,
  head: RequestHead,
  { route, origin }: { readonly route: LiveRoute | null; readonly origin: RequestOrigin },
): EdgeAnswer | null {
  const challenge = plane.certificates.challengeAnswer(head.host.name, head.target);
  if (challenge !== null) return { status: 200, type: 'text/plain', body: challenge, fields: '' };
  const location = route === null ? null : httpsLocation(plane, head, { route, origin });
  if (location === null) return null;
  return { status: REDIRECT, type: 'text/plain', body: `${location}\n`, fields: `Location: ${location}\r\n` };
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
