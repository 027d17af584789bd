/**
 * Lets the healers run by themselves: round after round, each a while after the one before has ended. What a round finds is healed
 * by a later one that finds it again, and what would throw something away only after its grace: what looks like disorder is
 * often only on its way.
 */
import type { Logger } from '../../lib/logger.ts';
import type { Finding } from './healer.ts';
import type { Healers } from './healers.ts';

interface RoundsDeps {
  readonly healers: Pick<Healers, 'round'>;
  /** 0: never. */
  readonly everyMs: number;
  readonly logger: Logger;
  readonly now: () => Date;
}

export class HealerRounds {
  readonly #deps: RoundsDeps;
  /** Finding -> when it was first seen in an unbroken row of rounds. */
  #seen = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #current: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: RoundsDeps) {
    this.#deps = deps;
  }

  start(): void {
    const { everyMs } = this.#deps;
    if (everyMs === 0 || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#current = this.round().finally(() => this.start());
    }, everyMs).unref();
  }

  /** Never rejects. */
  async round(): Promise<void> {
    const at = this.#deps.now().getTime();
    const before = this.#seen;
    const seen = new Map<string, number>();
    this.#seen = seen;
    const isTimely = (healer: string, finding: Finding): boolean => {
      if (this.#isClosed) return false;
      const key = `${healer} ${finding.target} ${finding.problem}`;
      const since = before.get(key) ?? null;
      seen.set(key, since ?? at);
      return since !== null && at - since >= finding.graceMs;
    };
    try {
      await this.#deps.healers.round(isTimely);
    } catch (error) {
      this.#deps.logger.error({ err: error }, 'a round of the healers failed');
    }
  }

  /** Resolves when the round under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#current;
  }
}
