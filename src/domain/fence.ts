/**
 * Refuses what is written too late. Whoever has been away for longer than its lease (a stopped process, a machine that slept, a database
 * out of reach) does not know that somebody else has gone on, so each transaction says by which leases it writes, and the database
 * judges it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { PlatformError } from './errors.ts';
import type { Lease, Store, StoreWriter } from './store.ts';

interface Held {
  readonly lease: Lease;
  /** What goes on after that in the background is not done by this lease any more. */
  isGivenBack: boolean;
}

export class Fence {
  readonly #held = new AsyncLocalStorage<readonly Held[]>();
  readonly #own: Lease | null;

  /** `own`: of this control as a whole; null: there is none. */
  constructor(own: Lease | null = null) {
    this.#own = own;
  }

  /** Everything that `work` writes, also what it leaves behind in the background, until `over` is called, is written by this lease. */
  during<T>(lease: Lease, work: (over: () => void) => Promise<T>): Promise<T> {
    const held: Held = { lease, isGivenBack: false };
    const all = [...(this.#held.getStore() ?? []).filter(({ isGivenBack }) => !isGivenBack), held];
    return this.#held.run(all, () => work(() => (held.isGivenBack = true)));
  }

  /** The same store, whose transactions are refused once one of their leases belongs to somebody else: `app.busy`, or `unavailable` for that of this control. */
  guard(store: Store): Store {
    const transact = <T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> => {
      const leases = this.#leases();
      if (leases.length === 0) return store.transact(work);
      return store.transact(async (tx) => {
        const [lost] = await tx.lostLeases(leases);
        if (lost !== undefined) throw this.#refusal(lost);
        return work(tx);
      });
    };
    return new Proxy(store, {
      get: (target, name): unknown => (name === 'transact' ? transact : Reflect.get(target, name)),
    });
  }

  #leases(): Lease[] {
    const held = (this.#held.getStore() ?? []).filter(({ isGivenBack }) => !isGivenBack);
    return [...(this.#own === null ? [] : [this.#own]), ...held.map(({ lease }) => lease)];
  }

  #refusal({ key }: Lease): PlatformError {
    if (key === this.#own?.key) {
      return new PlatformError('unavailable', 'This server was away, and another one has gone on in its place.', {
        hint: 'Try again in a moment.',
      });
    }
    return new PlatformError('app.busy', `${key.replace(':', ' ')} was taken over meanwhile.`, {
      hint: 'Look at it as it is now, then try again.',
    });
  }
}
