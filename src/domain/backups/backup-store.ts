/** Contract: keeps copies of what the platform cannot make again. Implementations live in backends/backup-store/<name>. */

export interface Backup {
  readonly name: string;
  /** ISO 8601 UTC. */
  readonly madeAt: string;
  readonly bytes: number;
  /** Of the program that made it. */
  readonly version: string;
}

/** What is to be in it besides the databases, the repositories and the keys. */
export interface BackupContents {
  /** Artifacts that apps run now, and absolute paths of what they need besides: with them the apps serve without being built again. */
  readonly artifacts: readonly string[];
  readonly needed: readonly string[];
  /** For people: whose they are. */
  readonly apps: readonly string[];
  /** `<app>/<volume>`: their files are not in it. */
  readonly volumes: readonly string[];
}

export interface BackupStore {
  /** Where they lie, for people. */
  readonly place: string;
  /**
   * Makes one, whole or not at all; everything committed before the call is in it. Removes the oldest beyond those that are kept. One at a
   * time. Throws PlatformError `unavailable` with why, and what the signal says.
   */
  make(contents: BackupContents, at: Date, signal: AbortSignal): Promise<Backup>;
  /** The whole ones, newest first. Throws PlatformError `unavailable`. */
  list(): Promise<Backup[]>;
}
