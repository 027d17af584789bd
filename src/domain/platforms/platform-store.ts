/** What is kept of a platform: one that an admin has added, or what was changed of one that the builder brings. */
export interface PlatformRecord {
  readonly name: string;
  /** The text that the builder reads; null for one that the builder brings. */
  readonly definition: string | null;
  /** No new apps. */
  readonly isDisabled: boolean;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** Readers answer null for what is missing. */
export interface PlatformReader {
  platformRecord(name: string): Promise<PlatformRecord | null>;
  /** Sorted by name. */
  platformRecords(): Promise<PlatformRecord[]>;
}

export interface PlatformWriter {
  /** In place of the one before. */
  putPlatform(record: PlatformRecord): Promise<void>;
  /** Missing: nothing to do. */
  deletePlatform(name: string): Promise<void>;
}
