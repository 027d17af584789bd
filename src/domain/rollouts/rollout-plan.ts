/** What a rollout is asked to do, and what it reports of its steps. */
import type { Say } from '../say.ts';
import type { StoreWriter } from '../store.ts';
import type { App, Release } from '../apps/app.ts';
import type { NewRelease } from '../apps/next-release.ts';
import type { RolloutState } from './rollout.ts';
import type { Power } from '../units/wanted-units.ts';

export interface RolloutPlan {
  /** As read under the app's lease: the rollout fails when somebody else changes what serves meanwhile. */
  readonly app: App;
  /** What the new units run. Without a number it is new, and stored with the rollout under the next number. */
  readonly release: Release | NewRelease;
  readonly reason: string;
  readonly by: string;
  readonly say: Say;
  readonly signal: AbortSignal;
  /** What is to run from the commit on. Absent: the app, without the processes that are stopped now. */
  readonly power?: Power;
  /**
   * Processes whose units are replaced; absent: all. Of the others the units stay, so their code and environment must be those
   * of the release; only what is missing of them is started, and what is too many ended.
   */
  readonly replaced?: readonly string[];
  /** True for a deploy and a rollback: the commands of a new version run. */
  readonly isNewVersion?: boolean;
  /** Runs in the transaction that stores the step. */
  readonly onStep?: (tx: StoreWriter, step: RolloutStep) => Promise<void>;
}

export interface RolloutStep {
  readonly state: RolloutState;
  readonly release: number;
  /** Known with `done`: requests that the router had to fail during the switch. */
  readonly failedRequests?: number;
}

/** A plan whose release has its number. */
export interface NumberedPlan extends RolloutPlan {
  readonly release: Release;
  readonly isNewRelease: boolean;
}
