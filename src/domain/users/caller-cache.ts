/**
 * Remembers for a few seconds whom a token belongs to, because every request asks. Whatever changes the answer in this
 * process (logout, membership, removal) clears it at once, and soon in others; what is changed in the database past it shows after TTL_MS.
 */
import type { UserCaller } from '../caller.ts';
import { type News, NO_NEWS } from '../controls/news.ts';

export type KnownCaller = Omit<UserCaller, 'address'>;

interface Entry {
  readonly caller: KnownCaller;
  readonly until: number;
}

const TTL_MS = 3_000;
const MAX_ENTRIES = 10_000;

export class CallerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => Date;
  readonly #news: News;
  #generation = 0;

  constructor(now: () => Date, news: News = NO_NEWS) {
    this.#now = now;
    this.#news = news;
    news.on('callers', () => this.#forget());
  }

  /** To be read before the store is asked and given to put(): an answer that was overtaken by clear() is not kept. */
  get generation(): number {
    return this.#generation;
  }

  get(tokenHash: string): KnownCaller | null {
    const entry = this.#entries.get(tokenHash);
    if (entry === undefined) return null;
    if (entry.until > this.#now().getTime()) return entry.caller;
    this.#entries.delete(tokenHash);
    return null;
  }

  /** `expiresAt`: ISO 8601, when the token itself ends. */
  put(caller: KnownCaller, expiresAt: string, generation: number): void {
    if (generation !== this.#generation) return;
    if (this.#entries.size >= MAX_ENTRIES) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    const until = Math.min(this.#now().getTime() + TTL_MS, Date.parse(expiresAt));
    this.#entries.set(caller.tokenHash, { caller, until });
  }

  clear(): void {
    this.#forget();
    this.#news.publish('callers', '');
  }

  #forget(): void {
    this.#generation += 1;
    this.#entries.clear();
  }
}
