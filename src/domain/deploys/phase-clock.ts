import type { Deploy, DeployState } from './deploy.ts';

/** Adds up the milliseconds spent in each state. */
export class PhaseClock {
  readonly #startedAt: number;
  readonly #now: () => Date;
  readonly #phases: Partial<Record<DeployState, number>> = {};
  #state: DeployState;
  #since: number;

  constructor(deploy: Deploy, now: () => Date) {
    this.#startedAt = new Date(deploy.startedAt).getTime();
    this.#now = now;
    this.#state = deploy.state;
    this.#since = this.#startedAt;
  }

  /** Entering the state it is in changes nothing, so a transaction may run again. */
  enter(state: DeployState): void {
    if (state === this.#state) return;
    const now = this.#now().getTime();
    this.#phases[this.#state] = (this.#phases[this.#state] ?? 0) + Math.max(now - this.#since, 0);
    this.#state = state;
    this.#since = now;
  }

  get phases(): Partial<Record<DeployState, number>> {
    return { ...this.#phases };
  }

  get totalMs(): number {
    // The clock may be set back meanwhile.
    return Math.max(this.#now().getTime() - this.#startedAt, 0);
  }
}
