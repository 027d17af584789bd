/**
 * Sends each drain what it does not have yet: pages from its cursor on, one after the other, the cursor moved when the receiver has
 * them. So every line is sent at least once, whatever ends in between, and a receiver that is away holds up nobody but itself.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { DrainCursor } from '../logs/drain-cursors.ts';
import type { LogEntry } from '../logs/entry.ts';
import type { Journal } from '../logs/journal.ts';
import type { LogStore } from '../logs/log-store.ts';
import { type News, NO_NEWS } from '../controls/news.ts';
import type { Store } from '../store.ts';
import type { Drain } from './drain.ts';
import { DeliveryFailure, type DrainSender } from './drain-sender.ts';

interface DeliveriesDeps {
  readonly store: Pick<Store, 'drain' | 'drains'>;
  readonly logStore: LogStore;
  readonly journal: Pick<Journal, 'follow'>;
  readonly sender: DrainSender;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Of other controls. One of them sends: the one that was started. */
  readonly news?: News;
  readonly pauses?: DeliveryPauses;
}

interface DeliveryPauses {
  /** After the first new line, so that those that come together are sent together. */
  readonly gatherMs: number;
  /** After the first failure; it doubles with each. */
  readonly firstMs: number;
  readonly longestMs: number;
}

interface Task {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

interface Ahead {
  readonly after: number;
  readonly lost: number;
  readonly entries: readonly LogEntry[];
}

const PAGE = 500;
const PAGE_BYTES = 1024 * 1024;
/** Read at once for a drain of all apps: to find its next line something of nearly every app has to be looked at. */
const AHEAD = { lines: 20 * PAGE, bytes: 4 * PAGE_BYTES };
const PAUSES: DeliveryPauses = { gatherMs: 250, firstMs: 1_000, longestMs: 5 * 60_000 };

export class DrainDeliveries {
  readonly #deps: DeliveriesDeps;
  readonly #pauses: DeliveryPauses;
  readonly #tasks = new Map<string, Task>();
  readonly #changes = new KeyedQueue();
  readonly #news: News;
  #isStarted = false;
  #isClosed = false;

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
    this.#pauses = deps.pauses ?? PAUSES;
    this.#news = deps.news ?? NO_NEWS;
    this.#news.on('drains', (id) => void this.#follow(id));
  }

  /** Begins with all there are; what a crash left of others is forgotten. */
  async start(): Promise<void> {
    const { store, logStore } = this.#deps;
    this.#isStarted = true;
    const known = new Set((await store.drains()).map(({ id }) => id));
    for (const id of await logStore.drainIds()) if (!known.has(id)) await logStore.forgetDrain(id);
    for (const id of known) await this.#change(id);
  }

  /**
   * To be called after each change. When it resolves, nothing is sent any more as it was before; of a drain that is gone, nothing
   * at all, and its cursor is forgotten.
   */
  async changed(id: string): Promise<void> {
    this.#news.publish('drains', id);
    await this.#change(id);
  }

  async #change(id: string): Promise<void> {
    const { store, logStore, logger } = this.#deps;
    await this.#changes.run(id, async () => {
      // Where that fails the task goes on, and reads it itself.
      const drain = await store.drain(id);
      await this.#end(id);
      if (drain === null) return logStore.forgetDrain(id);
      // The record stands: what cannot be begun with it now is tried by its task again.
      await bestEffort(logger, 'opening a drain', () => logStore.openDrain(id, drain.app));
      const isSender = this.#isStarted || this.#news === NO_NEWS;
      if (isSender && !this.#isClosed) this.#begin(drain);
    });
  }

  async #follow(id: string | null): Promise<void> {
    if (!this.#isStarted || this.#isClosed) return;
    await bestEffort(this.#deps.logger, 'following a change of a drain', async () => {
      const changed = id === null ? (await this.#deps.store.drains()).map((drain) => drain.id) : [id];
      // What goes on already goes on: a task reads its drain before each page.
      for (const one of changed) if (id !== null || !this.#tasks.has(one)) await this.#change(one);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#tasks.keys()].map((id) => this.#end(id)));
  }

  #begin(drain: Drain): void {
    const stop = new AbortController();
    this.#tasks.set(drain.id, { stop, done: this.#run(drain, stop.signal) });
  }

  async #end(id: string): Promise<void> {
    const task = this.#tasks.get(id);
    if (task === undefined) return;
    task.stop.abort();
    await task.done;
    this.#tasks.delete(id);
  }

  async #run(drain: Drain, signal: AbortSignal): Promise<void> {
    const { journal, logger } = this.#deps;
    let news = Promise.withResolvers<void>();
    const ring = (): void => news.resolve();
    const unfollow = journal.follow(drain.app, ring);
    signal.addEventListener('abort', ring);
    const attempt = new Attempts(this.#deps, drain, this.#pauses);
    while (!signal.aborted) {
      news = Promise.withResolvers();
      let pauseMs: number;
      try {
        const state = await attempt.next(signal);
        if (state === 'gone') {
          this.#tasks.delete(drain.id);
          break;
        }
        const isDone = state === 'idle';
        if (isDone) await news.promise;
        pauseMs = isDone ? this.#pauses.gatherMs : attempt.pauseMs;
      } catch (error) {
        // Of the store: the receiver's are the attempt's own.
        logger.warn({ err: error, drain: drain.id }, 'a drain could not be served, trying again');
        pauseMs = this.#pauses.firstMs;
      }
      if (pauseMs > 0) await delay(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    unfollow();
    signal.removeEventListener('abort', ring);
  }
}

/** What is remembered from one attempt to the next. */
class Attempts {
  readonly #deps: DeliveriesDeps;
  #drain: Drain;
  readonly #pauses: DeliveryPauses;
  #limit = PAGE;
  #failed = 0;
  /** What was read and is not sent: all there was after that seq, when so many were lost. */
  #ahead: Ahead = { after: 0, lost: 0, entries: [] };
  /** Before the next one. */
  pauseMs = 0;

  constructor(deps: DeliveriesDeps, drain: Drain, pauses: DeliveryPauses) {
    this.#deps = deps;
    this.#drain = drain;
    this.#pauses = pauses;
  }

  /** One page. `gone`: nobody wants anything of it any more; `idle`: there is nothing to send. */
  async next(signal: AbortSignal): Promise<'gone' | 'idle' | 'busy'> {
    const { store, logStore, sender, now } = this.#deps;
    const { id, app } = this.#drain;
    const cursor = await logStore.drainCursor(id);
    const page = cursor === null ? [] : bounded(await this.#oldest(cursor));
    if (cursor !== null && page.length === 0 && cursor.unreported === 0) return 'idle';
    // As it is now: whoever has changed or removed it may not have reached this task.
    const drain = await store.drain(id);
    if (drain === null) {
      await logStore.forgetDrain(id);
      return 'gone';
    }
    this.#drain = drain;
    if (cursor === null) {
      await logStore.openDrain(id, app);
      return 'busy';
    }
    const { unreported } = cursor;
    const at = now().toISOString();
    const entries = unreported === 0 ? page : [gap(app, unreported, at), ...page];
    try {
      await sender.send(drain.target, entries, signal);
    } catch (error) {
      if (signal.aborted) return 'busy';
      await this.#failedWith(error, page, cursor.lastSuccessAt !== '');
      return 'busy';
    }
    await logStore.drainSent(id, { seq: page.at(-1)?.seq ?? cursor.seq, reported: unreported, at });
    this.#limit = Math.min(PAGE, this.#limit * 2);
    this.#failed = 0;
    this.pauseMs = 0;
    return 'busy';
  }

  async #oldest({ seq: after, lost }: DrainCursor): Promise<readonly LogEntry[]> {
    const { logStore } = this.#deps;
    const { id, app } = this.#drain;
    if (app !== '') return logStore.drainEntries(id, { lines: this.#limit, bytes: PAGE_BYTES });
    // What was removed since is not to be sent: it is counted, and reported.
    const isStale = after < this.#ahead.after || lost !== this.#ahead.lost;
    const left = isStale ? [] : this.#ahead.entries.filter(({ seq }) => seq > after);
    this.#ahead = { after, lost, entries: left.length > 0 ? left : await logStore.drainEntries(id, AHEAD) };
    return this.#ahead.entries.slice(0, this.#limit);
  }

  async #failedWith(thrown: unknown, page: readonly LogEntry[], hasWorked: boolean): Promise<void> {
    const { logStore, logger, now } = this.#deps;
    const { id } = this.#drain;
    // It may be long until it is wanted.
    this.#ahead = { after: 0, lost: 0, entries: [] };
    const failure =
      thrown instanceof DeliveryFailure
        ? thrown
        : new DeliveryFailure('later', 'The lines could not be sent.', { cause: thrown });
    const isAboutLines = failure.problem !== 'later';
    // A receiver that has never taken a line refuses its caller rather than this one.
    const skipped = isAboutLines && hasWorked && page.length === 1 ? page[0] : undefined;
    const at = now().toISOString();
    await logStore.drainFailed(id, {
      error: failure.message,
      at,
      ...(skipped !== undefined && { skipTo: skipped.seq }),
    });
    if (this.#failed === 0) logger.warn({ err: thrown, drain: id }, 'a drain fails');
    const { firstMs, longestMs } = this.#pauses;
    if (isAboutLines && page.length > 1) {
      this.#limit = Math.ceil(page.length / 2);
      this.pauseMs = firstMs;
      return;
    }
    const backOff = firstMs * 2 ** Math.min(this.#failed, 20) * (0.75 + Math.random() / 2);
    this.#failed = skipped === undefined ? this.#failed + 1 : 0;
    this.pauseMs = skipped === undefined ? Math.min(longestMs, Math.max(backOff, failure.retryAfterMs)) : firstMs;
  }
}

function bounded(entries: readonly LogEntry[]): readonly LogEntry[] {
  let bytes = 0;
  const end = entries.findIndex(({ message }) => (bytes += Buffer.byteLength(message)) > PAGE_BYTES);
  return end === -1 ? entries : entries.slice(0, Math.max(1, end));
}

function gap(app: string, lost: number, at: string): LogEntry {
  const lines = lost === 1 ? '1 line is' : `${lost} lines are`;
  return ownLine(app, `${lines} missing here: removed too early, or refused.`, at);
}

/** A line of the platform for receivers alone; it is in no log. */
export function ownLine(app: string, message: string, at: string): LogEntry {
  return {
    seq: 0,
    at,
    app: app === '' ? 'tancho' : app,
    source: 'tancho',
    unit: 'api',
    unitId: '',
    release: 0,
    message,
  };
}
