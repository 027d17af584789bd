/** Use cases of deploys (specification 4.10), and the entry of every door that brings code. */
import type { Caller } from '../caller.ts';
import type { Say } from '../apps/apps.ts';
import type { SourceTree } from './builder.ts';
import type { Deploy, DeployOrigin } from './deploy.ts';

export interface DeployView {
  readonly deploy: Deploy;
  readonly log: string;
  readonly canRollback: boolean;
  /** Unified diff to the deploy before; '' when there is none. */
  readonly diff: string;
}

export interface NewCode {
  readonly source: SourceTree;
  readonly commit: string;
  readonly origin: DeployOrigin;
}

export interface Deploys {
  /** Newest first, of the apps the caller may see. */
  list(caller: Caller, filter: { app?: string; limit?: number; skip?: number }): Promise<Deploy[]>;
  info(caller: Caller, id: string): Promise<DeployView>;
  /**
   * The whole way from source to serving; resolves when the new version answers and the old one is drained.
   * `say` gets every line meant for the pusher. Throws PlatformError `deploy.failed` whose details.cause is a FailureCause
   * and whose text was already said; the old version then still serves.
   */
  deploy(caller: Caller, app: string, code: NewCode, say: Say, signal: AbortSignal): Promise<Deploy>;
}
