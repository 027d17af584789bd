import type { RouteRules } from '../../domain/routes/router.ts';
import type { RequestHead } from '../http/request-head.ts';
import type { LiveRoute } from '../routing/route-table.ts';
import { BODY_TOO_LONG, BUSY, type RefusedRequest } from './refusals.ts';

const MAINTENANCE_RETRY_SECONDS = 60;

export function maintenanceRefusal({ maintenance }: RouteRules): RefusedRequest | null {
  if (maintenance === undefined) return null;
  const detail = 'The app is down for maintenance. Please come back in a little while.';
  return { status: 503, detail, retryAfter: MAINTENANCE_RETRY_SECONDS, counts: false, html: maintenance.page };
}

/** What the rules of the app have against a request that has just begun; its workers share what is bounded evenly. */
export function ruledOut(
  rules: RouteRules,
  route: LiveRoute,
  head: RequestHead,
  workers: number,
): RefusedRequest | null {
  const { maxBodyBytes, maxRequests } = rules;
  const refusal = maintenanceRefusal(rules);
  if (refusal !== null) return refusal;
  if (maxBodyBytes !== undefined && head.bodyLength > maxBodyBytes) return BODY_TOO_LONG;
  // The request is among those that are open.
  if (maxRequests !== undefined && route.counter.open > Math.ceil(maxRequests / workers)) {
    return { ...BUSY, counts: false };
  }
  return null;
}
