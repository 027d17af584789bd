/** What the git doors need of the repositories; the git host provides it. */
import type { Duplex, Readable, Writable } from 'node:stream';
import type { SourceTree } from '../domain/deploys/builder.ts';
import type { GitHost } from '../domain/deploys/git-host.ts';
import type { KeptPush, PushToKeep } from '../domain/deploys/kept-push.ts';

export type GitServiceName = 'git-receive-pack' | 'git-upload-pack';
/** `advertise` and `rpc` are the two halves of git over HTTP. */
export type GitMode = 'stream' | 'advertise' | 'rpc';

interface GitServiceRequest {
  readonly service: GitServiceName;
  readonly mode: GitMode;
  /** What the client asks for in GIT_PROTOCOL or Git-Protocol; may be nonsense. */
  readonly protocol: string;
  /** Who pushes, for the log of reference changes. */
  readonly by: string;
}

/** A running git process. */
export interface GitServiceProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** The ends of the pre-receive hook's file descriptors 3 and 4; null where no hook can run. */
  readonly hook: { readonly requests: Duplex; readonly lines: Writable } | null;
  /** The exit code, once all output was read; negative when a signal ended it. */
  readonly exited: Promise<number>;
  end(): void;
}

export interface Repositories extends Pick<GitHost, 'create' | 'holdPush' | 'finishPush'> {
  serve(app: string, request: GitServiceRequest): Promise<GitServiceProcess>;
  /** `note` gets lines for the pusher about what is left out. */
  source(app: string, commit: string, quarantine: string, note: (line: string) => void): SourceTree;
  /** Counts what a push that is not accepted yet has added, too. Throws `input.too_large` when that is too much for one app. */
  demandRoom(app: string): Promise<void>;
  /** Null: what is on this machine is all there is. */
  keepPush(app: string, push: PushToKeep): Promise<KeptPush | null>;
  /** The commit a reference names now, or null. */
  ref(app: string, name: string): Promise<string | null>;
  /** To be called after an accepted push to a branch. */
  settle(app: string, branch: string): Promise<void>;
}
