/**
 * Contract: keeps one bare repository per app. Implementations live in backends/git-host/<name> and pass
 * backends/git-host/conformance.ts. Names come from checkAppName, so they are safe as file names.
 */
import type { SourceTree } from './builder.ts';

export interface GitHost {
  readonly name: string;
  /** Idempotent. */
  create(app: string): Promise<void>;
  /** Idempotent. */
  remove(app: string): Promise<void>;
  exists(app: string): Promise<boolean>;
  /** Names of all apps with a repository. */
  list(): Promise<string[]>;
  /** The tree of a commit that is in the repository or still in the quarantine of a push. */
  source(app: string, commit: string, quarantine?: string): SourceTree;
  /** Unified diff between two commits, bounded; '' when one is unknown. */
  diff(app: string, from: string, to: string): Promise<string>;
}
