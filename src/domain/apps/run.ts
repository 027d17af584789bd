/** Use case: run a command in the app's sandbox (specification 4.1, /run). */
import type { Caller } from '../caller.ts';

export interface RunRequest {
  readonly command: unknown;
  /** True: in one unit; false: once per unit of the app. */
  readonly once: boolean;
  readonly output: (bytes: Uint8Array) => void;
  readonly signal: AbortSignal;
}

export interface Run {
  /** Exit code of the last command that ran. Errors: run.command_required, app.not_deployed; run.failed after a non-zero exit. */
  run(caller: Caller, app: string, request: RunRequest): Promise<number>;
}
