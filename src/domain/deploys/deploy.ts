/** A deploy: new code on its way to an app, from the push to the last drained request. */
import type { FailureCause } from '../failure.ts';
import type { SourceTree } from './builder.ts';
import type { ImageName } from './image-name.ts';
import type { RepositoryTx } from './repository-store.ts';

export const DEPLOY_STATES = [
  'received',
  'building',
  'releasing',
  'starting',
  'routing',
  'draining',
  'done',
  'failed',
  'cancelled',
] as const;
export type DeployState = (typeof DEPLOY_STATES)[number];

export type DeployOrigin = 'git' | 'app-deploy' | 'drag-and-drop' | 'rollback' | 'image';

export interface Deploy {
  /** 24 hexadecimal digits, ordered by creation. */
  readonly id: string;
  readonly app: string;
  readonly state: DeployState;
  readonly commit: string;
  readonly origin: DeployOrigin;
  readonly by: string;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  /** Until the new version served, or the deploy failed. */
  readonly durationMs: number;
  readonly release: number | null;
  readonly artifact: string;
  /** Name and digest of the image; '' for code that was built. */
  readonly image: string;
  readonly cause: FailureCause | null;
  /** One sentence for people; empty when none. */
  readonly error: string;
  /** What is wrong with what it serves, one sentence for people; empty when nothing. */
  readonly warning: string;
  /** Milliseconds spent in each state that was passed through. */
  readonly phases: Readonly<Partial<Record<DeployState, number>>>;
  /** Requests the router failed for this app while its units were switched. Is to be 0. */
  readonly failedRequests: number;
  /** ISO 8601; null while the app exists. */
  readonly removedAt: string | null;
}

export const FINISHED: ReadonlySet<DeployState> = new Set(['done', 'failed', 'cancelled']);

/** What a door brings: source to be built, or the name of an image to be fetched. */
export type NewCode = CodeFacts & ({ readonly source: SourceTree } | { readonly image: ImageName });

interface CodeFacts {
  readonly commit: string;
  readonly origin: DeployOrigin;
  /** What the caller must be allowed to do; absent: `app.push`. */
  readonly action?: 'app.push' | 'app.deploy';
  /** Who is named as the one who deployed; absent: the caller. */
  readonly by?: string;
  /** Said before the build begins, and kept with what the build says. */
  readonly notes?: readonly string[];
  /** Absent: code that no later one takes the place of. */
  readonly push?: Push;
}

/** How a deploy and the reference that was pushed stay together. */
export interface Push {
  /** `refs/heads/main`; a newer push of the same takes the place of one that waits. */
  readonly ref: string;
  /** Called when the deploy's turn has come; refuses by throwing PlatformError. */
  readonly begin: () => Promise<void>;
  /** Called with the deploy's id before its code may serve: from then on the reference moves even if this process dies. */
  readonly hold: (deploy: string) => Promise<void>;
  /** Called in the transaction that makes its code serve, which may be run again; what it throws ends the deploy. */
  readonly move: (tx: RepositoryTx) => Promise<void>;
  /** Settles when the reference has moved, or will not: until then no other deploy of the app begins. */
  readonly over: Promise<unknown>;
}
