/**
 * Leases: at most one operation at a time per key (an app), over every door and every control process.
 * In this process the operations queue up; between processes the store's lease decides. Whoever dies loses its lease.
 */
import { withDeadline } from '../lib/deadline.ts';
import { KeyedQueue } from '../lib/keyed-queue.ts';
import { retry } from '../lib/retry.ts';
import { PlatformError } from './errors.ts';
import { Fence } from './fence.ts';
import { keepRenewing } from './renewing.ts';
import type { Lease, Store } from './store.ts';

/** Somebody else goes on with what a dead control had begun after so long. */
const TTL_MS = 9_000;
const RETRY_MS = 200;

interface LeaseOptions {
  /** How long to wait for the turn before `app.busy`. */
  readonly waitMs: number;
  /** What holds the lease, for the message to those who wait in vain: `deploy by ann@example.com`. */
  readonly holder: string;
  /** Gives up waiting, with its reason; what has begun goes on. */
  readonly signal?: AbortSignal;
}

type LeaseStore = Pick<Store, 'lease' | 'renewLease' | 'releaseLease'>;

export class Leases {
  readonly #store: LeaseStore;
  readonly #owner: string;
  readonly #fence: Fence;
  readonly #queue = new KeyedQueue();
  readonly #holders = new Map<string, string>();

  /**
   * `owner` names this control, unique among all that share the store. After a crash it goes by the same name, so that it need
   * not wait for its own leases to end. `fence` guards the store that the work writes to.
   */
  constructor(store: LeaseStore, owner: string, fence = new Fence()) {
    this.#store = store;
    this.#owner = owner;
    this.#fence = fence;
  }

  async hold<T>(key: string, options: LeaseOptions, work: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + options.waitMs;
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(this.#busy(key)), options.waitMs);
    const waiting = AbortSignal.any([giveUp.signal, ...(options.signal === undefined ? [] : [options.signal])]);
    const inTime = this.#queue.run(
      key,
      async () => {
        clearTimeout(timer);
        const lease = await this.#take(key, deadline, options.signal);
        this.#holders.set(key, options.holder);
        const stopRenewing = this.#keepRenewing(lease);
        return this.#fence.during(lease, async (over) => {
          try {
            return await work();
          } finally {
            this.#holders.delete(key);
            await stopRenewing();
            over();
            await this.#giveBack(lease);
          }
        });
      },
      waiting,
    );
    try {
      return await inTime;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Several are taken in the order of their names, so that nobody waits in a circle. */
  holdAll<T>(keys: readonly string[], options: LeaseOptions, work: () => Promise<T>): Promise<T> {
    const ordered = [...new Set(keys)].sort();
    const held = ordered.reduceRight((inner, key) => () => this.hold(key, options, inner), work);
    return held();
  }

  /** Whether an operation of this process has the lease now. */
  isHeld(key: string): boolean {
    return this.#holders.has(key);
  }

  /** What the operation of this process that has the lease calls itself. */
  holderOf(key: string): string | undefined {
    return this.#holders.get(key);
  }

  async #take(key: string, deadline: number, signal?: AbortSignal): Promise<Lease> {
    for (;;) {
      const token = await this.#store.lease(key, this.#owner, TTL_MS);
      if (token !== null) return { key, token };
      signal?.throwIfAborted();
      if (Date.now() >= deadline) throw this.#busy(key);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #keepRenewing(lease: Lease): () => Promise<void> {
    // Lost, the fence refuses what the work writes from here on.
    return keepRenewing(
      TTL_MS,
      () => this.#store.renewLease(lease, TTL_MS),
      () => {},
    );
  }

  /** What was done stays done. While the store is away it is tried again, for others wait; after its time a lease ends by itself. */
  async #giveBack(lease: Lease): Promise<void> {
    const first = Promise.withResolvers<void>();
    const giveBack = (): Promise<void> => this.#store.releaseLease(lease).finally(first.resolve);
    const pauses = { firstPauseMs: RETRY_MS, longestPauseMs: RETRY_MS };
    const trying = withDeadline(TTL_MS, null, (signal) => retry(giveBack, { ...pauses, signal, onError: () => {} }));
    trying.catch(() => undefined);
    await first.promise;
  }

  #busy(key: string): PlatformError {
    const holder = this.#holders.get(key);
    return new PlatformError(
      'app.busy',
      `${key.replace(':', ' ')} is busy${holder === undefined ? '' : ` with ${holder}`}.`,
      {
        hint: 'Try again when it has finished.',
      },
    );
  }
}
