/**
 * Which failed requests are counted as whose: each is one rollout's at most. A rollout's begin when it begins, and end when it is done
 * or the next one of its app is committed; what fails while two go on is the earlier one's until then.
 */
import type { StoreWriter } from '../store.ts';
import type { Rollout } from './rollout.ts';

/** In place of a count: the router did not say. */
export const NOT_KNOWN = -1;

/** At the commit of `rollout`: ends the counts of those before it. `failures`: what the router counts now. */
export async function countFromCommit(tx: StoreWriter, rollout: Rollout, failures: number): Promise<void> {
  const others = (await tx.unfinishedRollouts()).filter(({ id, app }) => app === rollout.app && id !== rollout.id);
  const counting = others.filter(({ state, failedRequests }) => state !== 'starting' && failedRequests === null);
  for (const other of counting) {
    await tx.updateRollout(other.id, { failedRequests: since(other.failuresBefore, failures) });
  }
  if (rollout.failuresBefore === NOT_KNOWN || counting.length > 0)
    await tx.updateRollout(rollout.id, { failuresBefore: failures });
}

/** At the end of `rollout`: how many failed requests are its own; those that have begun since count from here. */
export async function countAtEnd(tx: StoreWriter, rollout: Rollout, failures: number): Promise<number> {
  const own = await tx.rollout(rollout.id);
  if (own === null) return 0;
  if (own.failedRequests !== null) return own.failedRequests;
  const failedRequests = since(own.failuresBefore, failures);
  await tx.updateRollout(rollout.id, { failedRequests });
  for (const other of await tx.unfinishedRollouts()) {
    if (other.app === rollout.app && other.state === 'starting')
      await tx.updateRollout(other.id, { failuresBefore: failures });
  }
  return failedRequests;
}

/** A router that counts less than before has begun anew. */
function since(before: number, now: number): number {
  if (before === NOT_KNOWN) return 0;
  return now >= before ? now - before : now;
}
