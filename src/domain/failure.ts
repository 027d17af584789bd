/** A deploy or rollout that failed for a cause that is reported to its owner. */

/** Why a deploy or rollout failed; closed, public (docs/errors.md). */
export const FAILURE_CAUSES = [
  'invalid_source',
  'pull_failed',
  'push_failed',
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
  'no_port',
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
