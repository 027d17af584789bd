/**
 * Asks all other controls to do something, and waits until each has done it or is known to be dead. Each speaks for the edges elsewhere that
 * follow it; one that follows nobody just now is waited for as long as its lease lasts. A lease that has expired is not the end of whoever has it:
 * a database that was away lets all expire at once, and whoever lives renews its own. A control is dead when another one has its lease.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { randomHex } from '../../lib/ids.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { Store } from '../store.ts';
import { CONTROL_PREFIX } from './control-lease.ts';
import { SUSPECT_MS } from './controls.ts';
import { EDGE_PREFIX } from './edge-prefix.ts';
import type { News } from './news.ts';

/**
 * `routes`: its router is to have what leads to an app. `drain`: its router is to be free of requests of some units. `challenges`: its router
 * is to answer, or no more, what an authority looks for.
 */
type Question = 'routes' | 'drain' | 'challenges';

interface PeersDeps {
  readonly store: Pick<Store, 'leases'>;
  readonly news: News;
  /** Null: there are no others. */
  readonly owner: string | null;
  /** Edges elsewhere that follow this control, by name: another object after each connection; absent: none do. */
  readonly edges?: { readonly attached: ReadonlyMap<string, object> };
  readonly logger: Logger;
  /** So long an edge is waited for after its lease has expired. */
  readonly suspectMs?: number;
}

type Work = (subjects: readonly string[]) => Promise<void>;

/** A question is published again so often, for news may be lost. */
const ASK_EVERY_MS = 250;
const NO_EDGES: ReadonlyMap<string, object> = new Map();
const KEPT_ANSWERS = 1_000;
/** In one answer, and in one question: news are short. */
const EDGES_AT_ONCE = 25;
const SUBJECTS_AT_ONCE = 250;

export class Peers {
  readonly #deps: PeersDeps;
  readonly #work = new Map<string, Work>();
  /** Questions that wait, with who has answered, and how to wake who asks. */
  readonly #asked = new Map<string, { readonly done: Set<string>; readonly wake: AbortController[] }>();
  /** What this control was asked, so that it does each once however often it hears of it; with the edges that it was done for. */
  readonly #answers = new Map<string, 'at work' | WeakSet<object>>();
  /** Leases of edges that were expired when they were looked at last, by key, and since when that is known. */
  #expired: ReadonlyMap<string, number> = new Map();

  constructor(deps: PeersDeps) {
    this.#deps = deps;
    deps.news.on('ask', (subject) => {
      if (subject !== null) void this.#answer(JSON.parse(subject) as string[]);
    });
    deps.news.on('done', (subject) => {
      const [id = '', ...names] = subject?.split(' ') ?? [];
      const asked = this.#asked.get(id);
      for (const name of names) asked?.done.add(name);
      for (const sleeper of asked?.wake.splice(0) ?? []) sleeper.abort();
    });
  }

  /** What this control does when another one asks it to. */
  on(question: Question, work: Work): void {
    this.#work.set(question, work);
  }

  /**
   * Resolves when all have done it; after `forMs` whatever some say, which is logged. What this control does itself is begun by who asks. Rejects
   * with the reason of the signal soon after it fires.
   */
  async all(question: Question, subjects: readonly string[], forMs: number, signal?: AbortSignal): Promise<void> {
    const { news, logger } = this.#deps;
    const deadline = performance.now() + forMs;
    const wake: AbortController[] = [];
    const parts = inParts(subjects).map((part) => ({ id: randomHex(12), part, done: new Set<string>(), wake }));
    const covered = new WeakSet(this.#attached.values());
    for (const asked of parts) this.#asked.set(asked.id, asked);
    try {
      for (;;) {
        signal?.throwIfAborted();
        const all = [...(await this.#others()), ...(await this.#edgesBut(covered))];
        const open = parts.filter(({ done }) => all.some((other) => !done.has(other)));
        const missing = all.filter((other) => open.some(({ done }) => !done.has(other)));
        if (missing.length === 0) return;
        if (performance.now() > deadline) {
          logger.warn({ question, missing }, 'other controls, or edges, have not answered in time');
          return;
        }
        if (await this.#doForComers(question, subjects, covered)) continue;
        const sleeper = new AbortController();
        wake.push(sleeper);
        for (const { id, part } of open) news.publish('ask', JSON.stringify([id, question, ...part]));
        await delay(ASK_EVERY_MS, undefined, { signal: sleeper.signal }).catch(() => undefined);
      }
    } finally {
      for (const { id } of parts) this.#asked.delete(id);
    }
  }

  get #suspectMs(): number {
    return this.#deps.suspectMs ?? SUSPECT_MS;
  }

  get #attached(): ReadonlyMap<string, object> {
    return this.#deps.edges?.attached ?? NO_EDGES;
  }

  /** For edges that have come to this control since it began; true: there were some. */
  async #doForComers(question: Question, subjects: readonly string[], covered: WeakSet<object>): Promise<boolean> {
    const comers = [...this.#attached.values()].filter((edge) => !covered.has(edge));
    if (comers.length === 0) return false;
    await this.#work.get(question)?.(subjects);
    for (const edge of comers) covered.add(edge);
    return true;
  }

  /** Keys of the edges that are alive but for those that follow this control and are seen to. */
  async #edgesBut(covered: WeakSet<object>): Promise<string[]> {
    if (this.#deps.edges === undefined) return [];
    const leases = await this.#deps.store.leases(EDGE_PREFIX);
    const now = performance.now();
    const expired = leases.filter(({ isExpired }) => isExpired).map(({ key }) => key);
    this.#expired = new Map(expired.map((key) => [key, this.#expired.get(key) ?? now]));
    return leases
      .map(({ key }) => key)
      .filter((key) => now - (this.#expired.get(key) ?? now) < this.#suspectMs)
      .filter((key) => {
        const edge = this.#attached.get(key.slice(EDGE_PREFIX.length));
        return edge === undefined || !covered.has(edge);
      });
  }

  async #others(): Promise<string[]> {
    const { store, owner } = this.#deps;
    if (owner === null) return [];
    const leases = await store.leases(CONTROL_PREFIX);
    const own = leases.filter((lease) => lease.key === CONTROL_PREFIX + lease.owner);
    return own.map((lease) => lease.owner).filter((name) => name !== owner);
  }

  async #answer([id = '', question = '', ...subjects]: readonly string[]): Promise<void> {
    const { news, owner, logger } = this.#deps;
    const known = this.#answers.get(id);
    if (known === 'at work') return;
    let covered = known ?? null;
    if (covered === null || [...this.#attached.values()].some((edge) => covered?.has(edge) === false)) {
      this.#answers.set(id, 'at work');
      for (const oldest of this.#answers.keys()) {
        if (this.#answers.size <= KEPT_ANSWERS) break;
        this.#answers.delete(oldest);
      }
      const before = new WeakSet(this.#attached.values());
      // Who cannot do it does not hold up the others for ever: whoever asks has its own patience.
      let isDone = false;
      await bestEffort(logger, `doing what another control asks (${question})`, async () => {
        await this.#work.get(question)?.(subjects);
        isDone = true;
      });
      if (!isDone) return void this.#answers.delete(id);
      covered = before;
      this.#answers.set(id, covered);
    }
    const edges = [...this.#attached].filter(([, edge]) => covered.has(edge)).map(([name]) => EDGE_PREFIX + name);
    for (let at = 0; at === 0 || at < edges.length; at += EDGES_AT_ONCE)
      news.publish('done', [id, owner ?? '', ...edges.slice(at, at + EDGES_AT_ONCE)].join(' '));
  }
}

function inParts(subjects: readonly string[]): string[][] {
  const count = Math.max(1, Math.ceil(subjects.length / SUBJECTS_AT_ONCE));
  return Array.from({ length: count }, (_, number) =>
    subjects.slice(number * SUBJECTS_AT_ONCE, (number + 1) * SUBJECTS_AT_ONCE),
  );
}
