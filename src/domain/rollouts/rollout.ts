/**
 * A rollout: the recorded state machine that moves an app from one set of units to another
 * (new code, new environment, restart, scale). Crash-safe: every step is stored before it is begun, and `routing`
 * is the point of no return (see domain/rollouts/rollouts.ts for the steps and domain/recovery.ts for what a restart does).
 */
import type { FailureCause } from '../failure.ts';

const ROLLOUT_STATES = ['starting', 'routing', 'draining', 'done', 'failed'] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

export interface Rollout {
  /** 12 hexadecimal digits. */
  readonly id: string;
  readonly app: string;
  readonly release: number;
  readonly reason: string;
  readonly by: string;
  readonly state: RolloutState;
  readonly cause: FailureCause | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** Failed requests of the app by the router's count, from where on they are this rollout's; NOT_KNOWN (failed-requests.ts) until the router says. */
  readonly failuresBefore: number;
  /** How many are this rollout's: those until it was done, or the next one was committed; null until then. */
  readonly failedRequests: number | null;
}
