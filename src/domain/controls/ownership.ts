/** What of all that goes on is this control's. Whoever is alone has everything, and asks nobody. */
import type { Store, StoreWriter } from '../store.ts';
import type { Work } from './control-store.ts';

type OwnershipStore = Pick<Store, 'workOf' | 'controlOfRollout' | 'controlOfDeploy'>;

export class Ownership {
  readonly #store: OwnershipStore;
  readonly #control: string | null;

  /** `control`: the name of this one among several; null: it is alone. */
  constructor(store: OwnershipStore, control: string | null = null) {
    this.#store = store;
    this.#control = control;
  }

  get isAlone(): boolean {
    return this.#control === null;
  }

  /** In the transaction that inserts it. */
  async claimRollout(tx: StoreWriter, id: string): Promise<void> {
    if (this.#control !== null) await tx.claimRollout(id, this.#control);
  }

  /** In the transaction that inserts it. */
  async claimDeploy(tx: StoreWriter, id: string): Promise<void> {
    if (this.#control !== null) await tx.claimDeploy(id, this.#control);
  }

  /** Null: everything. */
  async work(): Promise<Work | null> {
    return this.#control === null ? null : this.#store.workOf(this.#control);
  }

  /** Whether this control looks after the units of a rollout. */
  async hasRollout(id: string): Promise<boolean> {
    return this.#control === null || (await this.#store.controlOfRollout(id)) === this.#control;
  }

  async hasDeploy(id: string): Promise<boolean> {
    return this.#control === null || (await this.#store.controlOfDeploy(id)) === this.#control;
  }
}
