/** Contract: a push on a git host that several controls share. What it brings is where all find it before it is judged. */
import type { RepositoryTx } from './repository-store.ts';

export interface RefUpdate {
  /** All zeros: the reference is new. */
  readonly from: string;
  /** All zeros: the reference is deleted. */
  readonly to: string;
  readonly ref: string;
}

export interface PushToKeep {
  readonly updates: readonly RefUpdate[];
  /** Where git keeps its objects until it is accepted; '' where it brings none. */
  readonly quarantine: string;
  /** The branch that is deployed, if any. */
  readonly branch: string | null;
}

export interface KeptPush {
  /**
   * Moves its references, in the transaction that accepts it, which may be run again. Throws PlatformError `app.busy` where one of them has
   * moved meanwhile.
   */
  move(tx: RepositoryTx): Promise<void>;
  /** The same in a transaction of its own. */
  accept(): Promise<void>;
  /** To be called in any case, once. `moved`: git has moved its own references; `accepted`: it has not, or nobody knows. */
  end(how: 'moved' | 'accepted' | 'refused'): Promise<void>;
}

export function isNone(object: string): boolean {
  return /^0+$/.test(object);
}
