/** Pure: when the log of a unit is asked for again that has ended, or could not be had, while its pod lives. */
import type { KubernetesError } from '../../../kubernetes/kubernetes-error.ts';

/** One that has ended is asked for again after it at the latest. */
const LOOK_MS = 2_000;
/** One that is refused, after ever longer times: of a node that does not answer there may be a hundred. */
const LONGEST_LOOK_MS = 60_000;

/** In a row. A connection that is lost says nothing of a node: while the server is away all logs wait together, see KubernetesClient.log(). */
export function refusalsAfter({ status }: Pick<KubernetesError, 'status'>, before: number): number {
  return status === 0 ? 0 : before + 1;
}

/** At times that differ: a node has many units, and all of them hear of its return at once. */
export function lookMs(refusals: number, random = Math.random()): number {
  return Math.min(LONGEST_LOOK_MS, LOOK_MS * 2 ** Math.max(0, refusals - 1)) * (0.5 + random / 2);
}
