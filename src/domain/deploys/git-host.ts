/**
 * Contract: keeps one bare repository per app. Implementations live in backends/git-host/<name> and pass
 * backends/git-host/conformance.ts. Names come from checkAppName, so they are safe as file names.
 */
import type { SourceTree } from './builder.ts';

/** Code that comes as an archive instead of a push. */
export interface ArchiveUpload {
  /** A tar file, gzipped or not. An error that it throws is passed on. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The commit's message; asked when every byte was read. */
  readonly message: () => string;
  readonly by: string;
  readonly signal: AbortSignal;
}

export interface ImportedArchive {
  readonly commit: string;
  readonly files: number;
  readonly bytes: number;
  /** What was left out, for people; one line each. */
  readonly notes: readonly string[];
}

/** A push whose code is about to serve, before its reference has moved. */
export interface HeldPush {
  /** Of the deploy. */
  readonly deploy: string;
  readonly ref: string;
  /** What the reference names until then; all zeros: nothing. */
  readonly from: string;
  readonly to: string;
}

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
  /**
   * Makes an archive a commit of its own, on a reference that no push and no clone sees; the newest ones are kept. The
   * repository must be there. Throws PlatformError `deploy.invalid_source`, `input.too_large`; nothing is changed then.
   */
  importArchive(app: string, upload: ArchiveUpload): Promise<ImportedArchive>;
  /**
   * Keeps what was pushed until finishPush(), whatever becomes of the process that takes it: from here on its code may serve.
   * One per app, the newest.
   */
  holdPush(app: string, push: HeldPush & { readonly quarantine: string }): Promise<void>;
  /** Of every app: those that were cut off between their switch and the move of their reference. */
  heldPushes(): Promise<({ readonly app: string } & HeldPush)[]>;
  /**
   * Forgets the push that is held; with `move` its reference names its commit then. Idempotent. False: the reference is another one
   * meanwhile, or what was held is not whole; it stays as it is.
   */
  finishPush(app: string, how: 'move' | 'forget'): Promise<boolean>;
}
