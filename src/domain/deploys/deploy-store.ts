import type { Deploy } from './deploy.ts';

interface DeployFilter {
  /** Undefined: every app. */
  readonly apps?: readonly string[];
  readonly limit: number;
  readonly skip: number;
}

/** What must be remembered about deploys. Readers answer null for what is missing. */
export interface DeployReader {
  deploy(id: string): Promise<Deploy | null>;
  /** Newest first; those of removed apps are left out. */
  deploys(filter: DeployFilter): Promise<Deploy[]>;
  unfinishedDeploys(): Promise<Deploy[]>;
  /** Everything the deploy printed, oldest first. */
  deployLog(id: string): Promise<string[]>;
}

export interface DeployWriter {
  insertDeploy(deploy: Deploy): Promise<void>;
  updateDeploy(id: string, change: Partial<Omit<Deploy, 'id' | 'app'>>): Promise<void>;
  /** Appends lines; bounded by the caller. */
  appendDeployLog(id: string, lines: readonly string[]): Promise<void>;
  /**
   * What was printed by all but the `keep` newest deploys of each app, also of those that are gone; of at most `batch` deploys.
   * How many deploys had a log.
   */
  deleteOldDeployLogs(bounds: { readonly keep: number; readonly batch: number }): Promise<number>;
  /**
   * Removes finished deploys, with what they printed, but the newest `keep` of each app and those that a release names; at most `batch`.
   * Answers how many.
   */
  deleteOldDeploys(bounds: { readonly keep: number; readonly batch: number }): Promise<number>;
}
