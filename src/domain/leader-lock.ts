/**
 * One control at a time works on a store: its units run on its own machine, so a second one would take them for dead. A control that
 * died leaves the leader lock free after a while; the one that comes back to it, by the same name, has it at once.
 */
import { PlatformError } from './errors.ts';
import type { Store } from './store.ts';

const KEY = 'control';
const TTL_MS = 6_000;
const RETRY_MS = 250;

interface LeaderLockOptions {
  /** Name of this control, unique among all that may share the store. */
  readonly owner: string;
  /** Somebody else has taken the lock, because this control could not hold it. */
  readonly onLost: () => void;
  /** How long the lock is kept without a sign of life. */
  readonly ttlMs?: number;
}

interface LeaderLock {
  release(): Promise<void>;
}

/** Throws PlatformError `unavailable` when another control has the lock and shows signs of life. */
export async function takeLeaderLock(
  store: Pick<Store, 'lease' | 'releaseLease'>,
  options: LeaderLockOptions,
): Promise<LeaderLock> {
  const { owner, onLost, ttlMs = TTL_MS } = options;
  const deadline = Date.now() + ttlMs + RETRY_MS;
  while (!(await store.lease(KEY, owner, ttlMs))) {
    if (Date.now() > deadline) {
      throw new PlatformError('unavailable', 'Another server works with this database.', {
        hint: 'Stop it first, or give this one a database of its own (TANCHO_DATABASE_URL).',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  let last = Promise.resolve();
  const renew = async (): Promise<void> => {
    // Out of reach: the next renewal tries again, and tells whether somebody else came first.
    const isOurs = await store.lease(KEY, owner, ttlMs).catch(() => true);
    if (isOurs) return;
    clearInterval(timer);
    onLost();
  };
  const timer = setInterval(() => void (last = last.then(renew)), ttlMs / 3);
  timer.unref();
  return {
    async release() {
      clearInterval(timer);
      await last;
      // Not given back, it ends by itself.
      await store.releaseLease(KEY, owner).catch(() => undefined);
    },
  };
}
