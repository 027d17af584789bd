/**
 * What is refused, recorded within bounds: of equal attempts in one period the first is written at once and the others are counted, and
 * whoever makes up ever new ones fills no table with them. The counts are written when the period is over.
 */
import { callerName } from '../caller.ts';
import type { PlatformEvent } from './events.ts';

interface RefusalsDeps {
  readonly now: () => Date;
  /** Never rejects. */
  readonly write: (event: PlatformEvent) => Promise<void>;
}

const PERIOD_MS = 10 * 60_000;
/** Of different attempts that are written in one period: of all who are known here, and of those who are not. */
const MOST_KINDS = 200;
const MOST_ANONYMOUS_KINDS = 40;
const MAX_TEXT = 200;
const ANONYMOUS = callerName({ kind: 'anonymous', address: '' });

interface Counted {
  last: PlatformEvent;
  /** Beside those that are written. */
  more: number;
}

export class Refusals {
  readonly #deps: RefusalsDeps;
  #kinds = new Map<string, Counted>();
  #anonymousKinds = 0;
  /** Beyond the bounds, by whether somebody known made them. */
  #surplus = new Map<boolean, Counted>();
  #endsAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** One after the other: a flood must not open transactions beside each other. */
  #writing = Promise.resolve();

  constructor(deps: RefusalsDeps) {
    this.#deps = deps;
  }

  add(refused: PlatformEvent): void {
    if (this.#deps.now().getTime() >= this.#endsAt) this.#beginPeriod();
    const event = { ...refused, target: cut(refused.target, MAX_TEXT), detail: cut(refused.detail, MAX_TEXT) };
    const { actor, address, action, target, error } = event;
    const isAnonymous = actor === ANONYMOUS;
    // Somebody unknown is identified by where they come from, and by nothing that they can make up.
    const key = JSON.stringify(isAnonymous ? [actor, address, action, error] : [actor, action, target, error]);
    const known = this.#kinds.get(key);
    if (known !== undefined) return count(known, event);
    const isFull = this.#kinds.size >= MOST_KINDS || (isAnonymous && this.#anonymousKinds >= MOST_ANONYMOUS_KINDS);
    if (isFull) {
      const surplus = this.#surplus.get(!isAnonymous);
      if (surplus === undefined) this.#surplus.set(!isAnonymous, { last: event, more: 1 });
      else count(surplus, event);
      return;
    }
    this.#kinds.set(key, { last: event, more: 0 });
    if (isAnonymous) this.#anonymousKinds += 1;
    this.#write(event);
  }

  async close(): Promise<void> {
    this.#endPeriod();
    await this.#writing;
  }

  #beginPeriod(): void {
    this.#endPeriod();
    this.#endsAt = this.#deps.now().getTime() + PERIOD_MS;
    this.#timer = setTimeout(() => this.#endPeriod(), PERIOD_MS);
    this.#timer.unref();
  }

  #endPeriod(): void {
    clearTimeout(this.#timer);
    for (const { last, more } of this.#kinds.values()) {
      if (more > 0) this.#write({ ...last, detail: `${last.detail} (${more} more like this one)`.trimStart() });
    }
    for (const { last, more } of this.#surplus.values()) {
      this.#write({ ...last, detail: `${last.detail} (the last of ${more} more of many kinds)`.trimStart() });
    }
    this.#kinds = new Map();
    this.#surplus = new Map();
    this.#anonymousKinds = 0;
    this.#endsAt = 0;
  }

  #write(event: PlatformEvent): void {
    this.#writing = this.#writing.then(() => this.#deps.write(event));
  }
}

function count(counted: Counted, event: PlatformEvent): void {
  counted.more += 1;
  counted.last = event;
}

/** `most`: in characters. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
