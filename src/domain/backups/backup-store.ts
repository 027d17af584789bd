/** Contract: keeps copies of what the platform cannot make again. Implementations live in backends/backup-store/<name>. */
import type { Store } from '../store.ts';

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

/** The state as it is in a backup that is being made. */
export type CopiedState = Pick<Store, 'apps' | 'release' | 'volumes' | 'transact'>;

/** `copied`: null where the state is kept elsewhere, and is not in the backup. */
export interface BackupSource {
  /** What is to be in it: what the copied state names, whatever has happened since. Called once, when that has been copied. */
  contents(copied: CopiedState | null): Promise<BackupContents>;
  /**
   * Called once, when all files of the contents have been read, and before the copied state is kept: has that name nothing that was removed meanwhile.
   * Answers what is in it then; throws where it cannot be put in order.
   */
  settled(copied: CopiedState | null, contents: BackupContents): Promise<BackupContents>;
}

export interface BackupStore {
  /** Where they lie, for people. */
  readonly place: string;
  /**
   * Makes one, whole or not at all; everything committed before the call is in it. Removes the oldest beyond those that are kept. One at a
   * time. Throws PlatformError `unavailable` with why, what the source throws, and what the signal says.
   */
  make(source: BackupSource, at: Date, signal: AbortSignal): Promise<Backup>;
  /** The whole ones, newest first. Throws PlatformError `unavailable`. */
  list(): Promise<Backup[]>;
}
