/**
 * Slows down guessing of passwords without ever locking anybody out for good. Failures are counted three ways: per account
 * from one address, per address, and per account from everywhere. An address from which the account has logged in before is
 * only held to the first, so a stranger cannot keep the owner out, nor one guest everybody behind the same proxy. Several controls count
 * together: each notifies the others of what it has counted, and whoever starts asks them.
 */
import { type News, NO_NEWS } from '../controls/news.ts';
import { PlatformError } from '../errors.ts';

interface Rule {
  /** Failures that cost nothing. */
  readonly free: number;
  readonly maxWaitMs: number;
}

interface Counter {
  failures: number;
  blockedUntil: number;
  lastFailure: number;
}

const PAIR: Rule = { free: 5, maxWaitMs: 60_000 };
const ADDRESS: Rule = { free: 30, maxWaitMs: 60_000 };
const ACCOUNT: Rule = { free: 30, maxWaitMs: 30_000 };
const FIRST_WAIT_MS = 1_000;
const FORGET_MS = 15 * 60_000;
const MAX_ENTRIES = 20_000;
const MAX_PUBLISHED = 500;

export class Throttle {
  readonly #counters = new Map<string, Counter>();
  readonly #known = new Set<string>();
  readonly #now: () => Date;
  readonly #message: string;
  readonly #news: News;
  /** Numbers what is published, for two attempts may be alike. */
  #published = 0;

  constructor(now: () => Date, news: News = NO_NEWS, message = 'Too many failed attempts to log in.') {
    this.#now = now;
    this.#message = message;
    this.#news = news;
    // Counters of different kinds have different messages.
    news.on('throttle', (subject) => {
      const [what, kind, ...facts] = subject === null ? [] : (JSON.parse(subject) as string[]);
      if (kind !== message) return;
      const [account = '', address = ''] = facts;
      if (what === 'asked') this.#publishAll();
      else if (what === 'counted') this.#learn(facts);
      else if (what === 'failed') this.#count(account, address);
      else this.#forgive(account, address);
    });
    this.#publish('asked');
  }

  /** Throws `auth.throttled` with details.retryAfterSeconds when this attempt comes too early. */
  check(account: string, address: string): void {
    const now = this.#now().getTime();
    let waitMs = 0;
    for (const [key, { maxWaitMs }] of this.#rules(account, address)) {
      const left = (this.#counters.get(key)?.blockedUntil ?? 0) - now;
      // Longer than it could be: the clock was set back.
      if (left <= maxWaitMs) waitMs = Math.max(waitMs, left);
    }
    if (waitMs <= 0) return;
    const seconds = Math.ceil(waitMs / 1_000);
    throw new PlatformError('auth.throttled', this.#message, {
      hint: `Try again in ${seconds} s.`,
      details: { retryAfterSeconds: seconds },
    });
  }

  failed(account: string, address: string): void {
    this.#count(account, address);
    this.#publish('failed', account, address);
  }

  succeeded(account: string, address: string): void {
    this.#forgive(account, address);
    this.#publish('succeeded', account, address);
  }

  #publish(what: 'asked' | 'counted' | 'failed' | 'succeeded', ...facts: readonly string[]): void {
    this.#published += 1;
    this.#news.publish('throttle', JSON.stringify([what, this.#message, ...facts, String(this.#published)]));
  }

  /** What is not forgotten yet, to whoever has just started; the newest, for the others have the rest. */
  #publishAll(): void {
    const now = this.#now().getTime();
    for (const [key, { failures, blockedUntil, lastFailure }] of [...this.#counters].slice(-MAX_PUBLISHED)) {
      if (now - lastFailure > FORGET_MS) continue;
      this.#publish('counted', key, String(failures), String(blockedUntil - now), String(lastFailure - now));
    }
  }

  /** Times are published as distances, for clocks differ. */
  #learn([key = '', failures = '', blockedFor = '', lastFailure = '']: readonly string[]): void {
    const now = this.#now().getTime();
    const own = this.#counters.get(key);
    this.#counters.delete(key);
    this.#counters.set(key, {
      failures: Math.max(Number(failures), own?.failures ?? 0),
      blockedUntil: Math.max(now + Number(blockedFor), own?.blockedUntil ?? 0),
      lastFailure: Math.max(now + Number(lastFailure), own?.lastFailure ?? 0),
    });
    bound(this.#counters);
  }

  #count(account: string, address: string): void {
    const now = this.#now().getTime();
    for (const [key, rule] of this.#rules(account, address)) {
      const old = this.#counters.get(key);
      const failures = old === undefined || now - old.lastFailure > FORGET_MS ? 1 : old.failures + 1;
      const over = failures - rule.free;
      const waitMs = over < 0 ? 0 : Math.min(FIRST_WAIT_MS * 2 ** Math.min(over, 16), rule.maxWaitMs);
      this.#counters.delete(key);
      this.#counters.set(key, { failures, blockedUntil: now + waitMs, lastFailure: now });
      bound(this.#counters);
    }
  }

  #forgive(account: string, address: string): void {
    const pair = pairKey(account, address);
    this.#counters.delete(pair);
    this.#known.delete(pair);
    this.#known.add(pair);
    bound(this.#known);
  }

  #rules(account: string, address: string): [string, Rule][] {
    const pair = pairKey(account, address);
    if (this.#known.has(pair)) return [[pair, PAIR]];
    return [
      [pair, PAIR],
      [`address ${networkOf(address)}`, ADDRESS],
      [`account ${account}`, ACCOUNT],
    ];
  }
}

function pairKey(account: string, address: string): string {
  return `pair ${networkOf(address)} ${account}`;
}

/** Whom an address stands for: of IPv6 the first 64 bits, for the rest is the subscriber's own to choose. Pure. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!plain.includes(':')) return plain;
  const [left = '', right] = plain.split('%', 1)[0]?.split('::') ?? [];
  const groups = left === '' ? [] : left.split(':');
  const missing = 8 - groups.length - (right === undefined || right === '' ? 0 : right.split(':').length);
  if (right !== undefined) groups.push(...Array.from({ length: Math.max(missing, 0) }, () => '0'), ...right.split(':'));
  return groups.slice(0, 4).join(':');
}

/** The least recently touched goes first. */
function bound(entries: Map<string, unknown> | Set<string>): void {
  if (entries.size <= MAX_ENTRIES) return;
  const oldest = entries.keys().next().value;
  if (oldest !== undefined) entries.delete(oldest);
}
