import { DeadlineExceeded, inTime } from '../lib/deadline.ts';

const RENEWALS_PER_TTL = 3;

/**
 * Renews a lease again and again until it is stopped, or `renew` says that somebody else has it. One that hangs, on a connection that was lost without a word, is
 * not waited for when the next one is due: it would hold up all that follow, and the lease would end while the store can be reached. The returned function stops
 * it and resolves when no renewal is waited for any more.
 */
export function keepRenewing(ttlMs: number, renew: () => Promise<boolean>, onLost: () => void): () => Promise<void> {
  let last = Promise.resolve();
  let isLost = false;
  const timer = setInterval(() => void (last = last.then(turn)), ttlMs / RENEWALS_PER_TTL).unref();

  async function turn(): Promise<void> {
    // Out of reach: the next renewal tries again, and shows whether somebody else came first.
    const isOurs = await renewInTime(ttlMs, renew).catch(() => true);
    if (isOurs || isLost) return;
    isLost = true;
    clearInterval(timer);
    onLost();
  }

  return () => {
    clearInterval(timer);
    return last;
  };
}

/** Rejects when it takes so long that the next one is due. */
export function renewInTime(ttlMs: number, renew: () => Promise<boolean>): Promise<boolean> {
  const ms = ttlMs / RENEWALS_PER_TTL;
  return inTime(ms, renew(), () => new DeadlineExceeded(`A lease was not renewed within ${ms} ms.`));
}
