import { atMost, DeadlineExceeded, inTime } from '../lib/deadline.ts';

const RENEWALS_PER_TTL = 3;

/**
 * Renews a lease again and again until it is stopped, or `renew` says that somebody else has it. One that hangs, on a connection that was lost without a word, is
 * not waited for when the next one is due: it would hold up all that follow, and the lease would end while the store can be reached. The returned function stops
 * it and resolves when no renewal is under way any more, which could come after what its caller does then; after as long as the lease lasts in any case.
 */
export function keepRenewing(ttlMs: number, renew: () => Promise<boolean>, onLost: () => void): () => Promise<void> {
  let last = Promise.resolve();
  let isLost = false;
  const underWay = new Set<Promise<boolean>>();
  const timer = setInterval(() => void (last = last.then(turn)), ttlMs / RENEWALS_PER_TTL).unref();

  async function turn(): Promise<void> {
    // Out of reach: the next renewal tries again, and shows whether somebody else came first.
    const isOurs = await renewInTime(ttlMs, begin).catch(() => true);
    if (isOurs || isLost) return;
    isLost = true;
    clearInterval(timer);
    onLost();
  }

  function begin(): Promise<boolean> {
    const renewal = renew().finally(() => underWay.delete(renewal));
    underWay.add(renewal);
    return renewal;
  }

  return async () => {
    clearInterval(timer);
    await last;
    await atMost(ttlMs, Promise.allSettled(underWay));
  };
}

/** Rejects when it takes so long that the next one is due. */
export function renewInTime(ttlMs: number, renew: () => Promise<boolean>): Promise<boolean> {
  const ms = ttlMs / RENEWALS_PER_TTL;
  return inTime(ms, renew(), () => new DeadlineExceeded(`A lease was not renewed within ${ms} ms.`));
}
