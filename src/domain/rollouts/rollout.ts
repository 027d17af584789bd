/**
 * A rollout: the recorded state machine that moves an app from one set of units to another
 * (new code, new environment, restart, scale). Crash-safe: every step is stored before it is begun, and `routing`
 * is the point of no return (see domain/rollouts/rollouts.ts for the steps and domain/recovery.ts for what a restart does).
 */
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
  /** Failed requests of the app by the router's count, from where on they are this rollout's. */
  readonly failuresBefore: number;
  /** How many are this rollout's: those until it was done, or the next one was committed; null until then. */
  readonly failedRequests: number | null;
}

/** Why a deploy or rollout failed; closed, public (docs/errors.md). */
export const FAILURE_CAUSES = [
  'invalid_source',
  'pull_failed',
  'no_platform',
  'no_process',
  'invalid_config',
  'toolchain_missing',
  'build_failed',
  'release_command_failed',
  'exited',
  'no_listener',
  'wrong_port',
  'wrong_interface',
  'health_check_failed',
  'out_of_memory',
  'disk_full',
  'disk_low',
  'quota_exceeded',
  'timeout',
  'cancelled',
  'interrupted',
  'internal',
] as const;
export type FailureCause = (typeof FAILURE_CAUSES)[number];

/** What a builder or provisioner throws when user code is at fault; `lines` are its last words, oldest first. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCause;
  /** What to do next, one sentence; may be empty. */
  readonly hint: string;
  readonly lines: readonly string[];
  /** Of `exited`: with what the process ended; null where that is not known, or was a signal. */
  readonly exitCode: number | null;

  constructor(
    code: FailureCause,
    message: string,
    options: { hint?: string; lines?: readonly string[]; exitCode?: number | null } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = options.hint ?? '';
    this.lines = options.lines ?? [];
    this.exitCode = options.exitCode ?? null;
  }
}
