/** What one caller may have under way at a time, by whichever door it comes, so that nobody takes the server away from others. */
import { KeyedCounter } from '../lib/keyed-counter.ts';
import { addressGroup } from '../lib/trusted-proxies.ts';
import type { Caller } from './caller.ts';
import { PlatformError } from './errors.ts';

export const AT_ONCE = {
  /**
   * Enough to keep the server busy: more would only have each step of others' requests wait for a step of every one of these. See
   * docs/decisions/turns.md.
   */
  reads: 4,
  /** Those that wait for something else than the server and its database. */
  slowReads: 16,
  /** More than clients have under way: infrastructure tools make 10 at once. */
  changes: 16,
  long: 16,
  uploads: 8,
  /** Git requests that read; each may take a core for a while. */
  fetches: 8,
  pushes: 16,
  /** Half of what one address may have, see git-push/ssh-visitors.ts. */
  sshConnections: 64,
  followedLogs: 50,
  /** Of all apps together; each may use as much of the machine as a unit. */
  commands: 40,
  shells: 20,
} as const;

/** What may wait for its turn, where there are turns. */
export const MOST_WAITING = 256;
const RETRY_SECONDS = 5;

/** For whom it counts: app tokens for who made them. Null for the platform and the owner of the machine, who have no bounds. */
export function countedFor(caller: Caller): string | null {
  if (caller.kind === 'user') return caller.via === 'socket' ? null : `user ${caller.email}`;
  if (caller.kind === 'app') return `user ${caller.by}`;
  return caller.kind === 'platform' ? null : `address ${addressGroup(caller.address)}`;
}

/** `what`: in the plural, for a sentence. */
export function tooManyAtOnce(what: string): PlatformError {
  return new PlatformError('too_many_requests', `Too many ${what} of yours are under way already.`, {
    hint: `End some of them, or wait until they have ended; try again in ${RETRY_SECONDS} s.`,
    details: { retryAfterSeconds: RETRY_SECONDS },
  });
}

/** Refuses what is more than so much of one caller. */
export class CallerPlaces {
  readonly #taken = new KeyedCounter();
  readonly #most: number;
  readonly #what: string;

  /** `what`: see tooManyAtOnce(). */
  constructor(most: number, what: string) {
    this.#most = most;
    this.#what = what;
  }

  /** The answer is to be called at the end, however often. Throws `too_many_requests`. */
  take(caller: Caller): () => void {
    const key = countedFor(caller);
    if (key === null) return () => {};
    if (this.#taken.of(key) >= this.#most) throw tooManyAtOnce(this.#what);
    return this.#taken.enter(key);
  }
}
