/** Repositories as rows, for git hosts that several controls share: what their references name, and the packs that hold it. */
export interface PackRecord {
  /** Of this one alone: two equal ones, of two pushes, are two. */
  readonly id: string;
  /** SHA-256 of its bytes. */
  readonly digest: string;
  readonly bytes: number;
  /** Its bytes are in so many pieces, from 0 on. */
  readonly parts: number;
}

export interface RepositoryRecord {
  readonly app: string;
  /** Of this one alone: what is made anew under the same name has another one. */
  readonly id: string;
  /** Counts its changes. */
  readonly version: number;
  /** The reference that a clone checks out. */
  readonly head: string;
  /** Name -> object. */
  readonly refs: Readonly<Record<string, string>>;
  /** Together all that the references name, oldest first. */
  readonly packs: readonly PackRecord[];
  /** Commits whose parents nobody has sent, sorted. */
  readonly shallow: readonly string[];
}

/** Readers answer null for what is missing. */
export interface RepositoryReader {
  repository(app: string): Promise<RepositoryRecord | null>;
  /** Apps with a repository, sorted. */
  repositories(): Promise<string[]>;
  packPart(app: string, pack: string, part: number): Promise<Uint8Array | null>;
  /** Stored before that time, and of no repository; bounded. */
  strayPacks(before: string): Promise<{ readonly app: string; readonly pack: string }[]>;
}

export interface RepositoryWriter {
  /** In place of the one before. */
  putRepository(record: RepositoryRecord): Promise<void>;
  /** With all its packs. */
  deleteRepository(app: string): Promise<void>;
  putPackPart(part: StoredPart): Promise<void>;
  deletePack(app: string, pack: string): Promise<void>;
}

/** What a transaction of a store offers of them. */
export type RepositoryTx = RepositoryReader & RepositoryWriter;

interface StoredPart {
  readonly app: string;
  readonly pack: string;
  readonly part: number;
  readonly data: Uint8Array;
  readonly at: string;
}
