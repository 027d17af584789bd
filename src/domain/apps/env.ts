/** Use cases of an app's environment (specification 4.1). One change is one release and one rollout, all or nothing. */
import type { Caller } from '../caller.ts';
import type { EnvVar } from './app.ts';
import type { Say } from './apps.ts';

export interface EnvChange {
  readonly noRestart: boolean;
}

export interface Env {
  /** All, or those named; unknown names are skipped. Sorted by name. */
  get(caller: Caller, app: string, names?: readonly string[]): Promise<EnvVar[]>;
  /** Errors: env.invalid; unit.failed when the app does not start with it, and then nothing has changed. */
  set(
    caller: Caller,
    app: string,
    vars: readonly { name: unknown; value: unknown; public: boolean }[],
    change: EnvChange,
    say: Say,
  ): Promise<void>;
  /** Unknown names are ignored. */
  unset(caller: Caller, app: string, names: readonly unknown[], change: EnvChange, say: Say): Promise<void>;
}
