/** What the rules of a route mean for one request, with everything in this process. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Route, RouteRules, Target } from '../../../domain/routes/router.ts';

const COOKIE = 'memory_unit';

export interface Ruling {
  readonly status: number;
  readonly detail: string;
  /** In place of the detail. */
  readonly page?: string;
}

/** Null: nothing is against the request. `open`: those under way, itself included. */
export function ruledOut(rules: RouteRules, request: IncomingMessage, open: number): Ruling | null {
  const { maintenance, maxBodyBytes, maxRequests } = rules;
  if (maintenance !== undefined) {
    return { status: 503, detail: 'The app is down for maintenance.', page: maintenance.page };
  }
  if (maxBodyBytes !== undefined && Number(request.headers['content-length'] ?? 0) > maxBodyBytes) {
    return { status: 413, detail: 'The body is longer than the app takes.' };
  }
  return maxRequests !== undefined && open > maxRequests ? { status: 503, detail: 'The app is busy.' } : null;
}

export function isHeld({ rules, targets }: Route): boolean {
  const when = rules?.hold?.when;
  return when === 'always' || (when === 'unserved' && targets.length === 0);
}

/** The one that the client has been to comes first. */
export function stickyFirst(targets: readonly Target[], request: IncomingMessage): Target[] {
  const isKnown = ({ unit }: Target): boolean => (request.headers.cookie ?? '').includes(`${COOKIE}=${tokenOf(unit)}`);
  return [...targets].sort((one, other) => Number(isKnown(other)) - Number(isKnown(one)));
}

export function stickyCookie({ unit }: Target): string {
  return `${COOKIE}=${tokenOf(unit)}; Path=/; HttpOnly; SameSite=Lax`;
}

function tokenOf(unit: string): string {
  return createHash('sha256').update(unit).digest('hex').slice(0, 16);
}
