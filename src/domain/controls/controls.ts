/**
 * This control among others on the same store. Each has a lease that it renews; whoever finds one expired, of one that has died or was stopped, takes it, which ends
 * everything that this one could still write (see fence.ts), and goes on with its work. Several that have died are followed side by side. What is to be done once
 * for all of them is done by whoever has the lease of the duties.
 */
import { atMost } from '../../lib/deadline.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import { Turns } from '../../lib/turns.ts';
import { keepRenewing, renewInTime } from '../renewing.ts';
import type { Store } from '../store.ts';
import { CONTROL_PREFIX, ONE_OF_SEVERAL_TTL_MS } from './control-lease.ts';

const DUTIES = 'duties';
const LOOK_EVERY_MS = 1_000;
/** A database that was away lets all leases expire at once: whoever lives renews its own within this time. */
export const SUSPECT_MS = 2_000;
/** The work of so many is gone on with at one time; the leases of all others are taken at once. */
const TAKEOVERS_AT_ONCE = 8;
/** A unit that does not come up, or a node that is lost, may take minutes; what is left then is gone on with by whoever follows this control. */
const LEAVE_MS = 5_000;

interface ControlsDeps {
  readonly store: Pick<Store, 'lease' | 'renewLease' | 'releaseLease' | 'releaseLeases' | 'leases'>;
  readonly owner: string;
  /** Goes on with what a dead control had begun. */
  readonly takeOver: (control: string) => Promise<void>;
  /** Called once, when this control is the one that has the duties. */
  readonly onDuty: () => Promise<void>;
  /** Somebody else has the duties now: this control was away. */
  readonly onLost: () => void;
  readonly logger: Logger;
  readonly timing?: ControlsTiming;
}

export interface ControlsTiming {
  readonly ttlMs: number;
  readonly lookEveryMs: number;
  readonly suspectMs: number;
  /** How long stop() waits for takeovers; 5 s when absent. */
  readonly leaveMs?: number;
}

export class Controls {
  readonly #deps: ControlsDeps;
  readonly #timing: ControlsTiming;
  /** Expired leases by key, and since when that is known. */
  #suspects = new Map<string, number>();
  /** Takeovers under way, by the key of the lease. */
  readonly #following = new Map<string, Promise<void>>();
  readonly #turns = new Turns(TAKEOVERS_AT_ONCE);
  #duties: number | null = null;
  /** Since when it is known that nobody renews them. */
  #dutiesExpired: number | null = null;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: ControlsDeps) {
    this.#deps = deps;
    const standard = { ttlMs: ONE_OF_SEVERAL_TTL_MS, lookEveryMs: LOOK_EVERY_MS, suspectMs: SUSPECT_MS };
    this.#timing = deps.timing ?? standard;
  }

  /** What a dead one had begun may take long to go on with: meanwhile the duties are held, and others that die are followed. */
  start(): void {
    const often = (what: string, work: () => Promise<void>): (() => Promise<void>) =>
      repeatedly(this.#timing.lookEveryMs, () => bestEffort(this.#deps.logger, what, work));
    const duties = often('having the duties', () => this.#haveDuties());
    const others = often('looking after the other controls', () => this.#lookAfterOthers());
    this.#stop = async () => void (await Promise.all([duties(), others()]));
  }

  /** Looks after nobody any more; resolves when what it goes on with for others has ended, or after seconds. */
  async stop(): Promise<void> {
    await this.#stop?.();
    await atMost(this.#timing.leaveMs ?? LEAVE_MS, Promise.allSettled(this.#following.values()));
  }

  /** To be called when the work of this control has ended: the duties are the next one's. */
  async close(): Promise<void> {
    await this.stop();
    if (this.#duties === null) return;
    // Not given back, it ends by itself.
    await this.#deps.store.releaseLease({ key: DUTIES, token: this.#duties }).catch(() => undefined);
  }

  /** Resolves when those that it found dead are followed. */
  async look(): Promise<void> {
    await this.#haveDuties();
    await this.#lookAfterOthers();
    await Promise.all(this.#following.values());
  }

  async #lookAfterOthers(): Promise<void> {
    const own = CONTROL_PREFIX + this.#deps.owner;
    const at = performance.now();
    const expired = (await this.#deps.store.leases(CONTROL_PREFIX)).filter(({ isExpired }) => isExpired);
    const others = expired.map(({ key }) => key).filter((key) => key !== own);
    this.#suspects = new Map(others.map((key) => [key, this.#suspects.get(key) ?? at]));
    for (const [key, since] of this.#suspects) if (at - since >= this.#timing.suspectMs) this.#follow(key);
  }

  #follow(key: string): void {
    if (this.#following.has(key)) return;
    const followed = this.#succeed(key).finally(() => this.#following.delete(key));
    this.#following.set(key, followed);
    void bestEffort(this.#deps.logger, 'going on with the work of another control', () => followed);
  }

  async #haveDuties(): Promise<void> {
    const { store, owner, onDuty, onLost } = this.#deps;
    const { ttlMs } = this.#timing;
    if (this.#duties === null) {
      if (await this.#areHadByAnother()) return;
      const token = await store.lease(DUTIES, owner, ttlMs);
      if (token !== null) await onDuty();
      this.#duties = token;
      return;
    }
    const lease = { key: DUTIES, token: this.#duties };
    if (await renewInTime(ttlMs, () => store.renewLease(lease, ttlMs))) return;
    this.#duties = null;
    onLost();
  }

  /** Whose lease of them has just expired may still live, as in #lookAfterOthers(). */
  async #areHadByAnother(): Promise<boolean> {
    const { store, owner } = this.#deps;
    const held = (await store.leases(DUTIES)).find(({ key }) => key === DUTIES);
    const at = performance.now();
    this.#dutiesExpired = held?.isExpired === true ? (this.#dutiesExpired ?? at) : null;
    if (held === undefined || held.owner === owner) return false;
    return this.#dutiesExpired === null || at - this.#dutiesExpired < this.#timing.suspectMs;
  }

  async #succeed(key: string): Promise<void> {
    const { store, owner, takeOver, logger } = this.#deps;
    const { ttlMs } = this.#timing;
    const control = key.slice(CONTROL_PREFIX.length);
    // From here on nothing of the dead one is written any more. Long enough for a takeover; who dies in it is followed by the next.
    const token = await store.lease(key, owner, ttlMs);
    if (token === null) return;
    const lease = { key, token };
    const stopRenewing = keepRenewing(
      ttlMs,
      () => store.renewLease(lease, ttlMs),
      () => {},
    );
    try {
      logger.warn({ control }, 'another control has ended: going on with its work');
      await store.releaseLeases(control);
      await this.#turns.run(() => takeOver(control));
      await store.releaseLease(lease);
    } finally {
      void stopRenewing();
    }
  }
}
