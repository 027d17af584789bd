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
  /** Apps, also those that are gone, that have more than `keep` deploys. */
  appsOfManyDeploys(keep: number): Promise<string[]>;
  /** Of the finished deploys of an app but the `keep` newest the ids of those that have a log, or that no release names: the oldest, at most `limit`. */
  oldDeploys(app: string, old: OldDeploys): Promise<string[]>;
}

interface OldDeploys {
  readonly which: 'logged' | 'unnamed';
  readonly keep: number;
  readonly limit: number;
}

export interface DeployWriter {
  insertDeploy(deploy: Deploy): Promise<void>;
  updateDeploy(id: string, change: Partial<Omit<Deploy, 'id' | 'app'>>): Promise<void>;
  /** Appends lines; bounded by the caller. */
  appendDeployLog(id: string, lines: readonly string[]): Promise<void>;
  /** What these have printed. */
  deleteDeployLogs(ids: readonly string[]): Promise<void>;
  /** With what they have printed; those that a release names stay. */
  deleteDeploys(ids: readonly string[]): Promise<void>;
}
