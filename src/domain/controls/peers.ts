/** Asks all other controls to do something, and waits until each has done it or is known to be dead. */
import { setTimeout as delay } from 'node:timers/promises';
import { randomHex } from '../../lib/ids.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { Store } from '../store.ts';
import { CONTROL_PREFIX } from './control-lease.ts';
import type { News } from './news.ts';

/** `routes`: its router is to have what leads to an app. `drain`: its router is to be free of requests of some units. */
type Question = 'routes' | 'drain';

interface PeersDeps {
  readonly store: Pick<Store, 'leases'>;
  readonly news: News;
  /** Null: there are no others. */
  readonly owner: string | null;
  readonly logger: Logger;
}

type Work = (subjects: readonly string[]) => Promise<void>;

/** A question is told again so often, for news may be lost. */
const ASK_EVERY_MS = 250;
const KEPT_ANSWERS = 1_000;

export class Peers {
  readonly #deps: PeersDeps;
  readonly #work = new Map<string, Work>();
  /** Questions that wait, with who has answered, and how to wake who asks. */
  readonly #asked = new Map<string, { readonly done: Set<string>; readonly wake: AbortController[] }>();
  /** What this control was asked, so that it does each once however often it hears of it. */
  readonly #answers = new Map<string, 'at work' | 'done'>();

  constructor(deps: PeersDeps) {
    this.#deps = deps;
    deps.news.on('ask', (subject) => {
      if (subject !== null) void this.#answer(JSON.parse(subject) as string[]);
    });
    deps.news.on('done', (subject) => {
      const [id = '', owner = ''] = subject?.split(' ') ?? [];
      const asked = this.#asked.get(id);
      asked?.done.add(owner);
      for (const sleeper of asked?.wake.splice(0) ?? []) sleeper.abort();
    });
  }

  /** What this control does when another one asks it to. */
  on(question: Question, work: Work): void {
    this.#work.set(question, work);
  }

  /** Resolves when all have done it; after `forMs` whatever some say, which is logged. */
  async all(question: Question, subjects: readonly string[], forMs: number): Promise<void> {
    const { news, owner, logger } = this.#deps;
    if (owner === null) return;
    const deadline = performance.now() + forMs;
    const id = randomHex(12);
    const asked = { done: new Set<string>(), wake: [] as AbortController[] };
    this.#asked.set(id, asked);
    try {
      for (;;) {
        const missing = (await this.#others()).filter((other) => !asked.done.has(other));
        if (missing.length === 0) return;
        if (performance.now() > deadline) {
          logger.warn({ question, missing }, 'other controls have not answered in time');
          return;
        }
        const sleeper = new AbortController();
        asked.wake.push(sleeper);
        news.tell('ask', JSON.stringify([id, question, ...subjects]));
        await delay(ASK_EVERY_MS, undefined, { signal: sleeper.signal }).catch(() => undefined);
      }
    } finally {
      this.#asked.delete(id);
    }
  }

  async #others(): Promise<string[]> {
    const { store, owner } = this.#deps;
    const alive = (await store.leases(CONTROL_PREFIX)).filter(({ isExpired }) => !isExpired);
    return alive.map(({ key }) => key.slice(CONTROL_PREFIX.length)).filter((name) => name !== owner);
  }

  async #answer([id = '', question = '', ...subjects]: readonly string[]): Promise<void> {
    const { news, owner, logger } = this.#deps;
    const known = this.#answers.get(id);
    if (known === 'at work') return;
    if (known === undefined) {
      this.#answers.set(id, 'at work');
      for (const oldest of this.#answers.keys()) {
        if (this.#answers.size <= KEPT_ANSWERS) break;
        this.#answers.delete(oldest);
      }
      // Who cannot do it does not hold up the others for ever: whoever asks has its own patience.
      let isDone = false;
      await bestEffort(logger, `doing what another control asks (${question})`, async () => {
        await this.#work.get(question)?.(subjects);
        isDone = true;
      });
      if (!isDone) return void this.#answers.delete(id);
      this.#answers.set(id, 'done');
    }
    news.tell('done', `${id} ${owner ?? ''}`);
  }
}
