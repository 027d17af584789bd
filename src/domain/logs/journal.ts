/**
 * The one writer of logs: stores entries, redacts private values, wakes followers. The platform's own messages enter
 * through note(); output of units through the collector.
 */
import { redactAll, type Redactor } from '../../lib/redact.ts';
import { type News, NO_NEWS } from '../controls/news.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { LogEntry } from './entry.ts';
import type { LogStore, OutputCursor } from './log-store.ts';

export class Journal {
  readonly #store: LogStore;
  readonly #now: () => Date;
  readonly #logger: Logger;
  #lineCounts = new Map<string, number>();
  readonly #followers = new Map<string, Set<() => void>>();

  readonly #news: News;

  constructor(deps: { logStore: LogStore; news?: News; now: () => Date; logger: Logger }) {
    this.#store = deps.logStore;
    this.#now = deps.now;
    this.#logger = deps.logger;
    this.#news = deps.news ?? NO_NEWS;
    this.#news.on('log', (app) => this.#wakeFor(app));
  }

  async append(entries: readonly LogEntry[], redact: Redactor, read?: OutputCursor): Promise<void> {
    const messages = await redactAll(
      redact,
      entries.map((entry) => entry.message),
    );
    const safe = entries.map((entry, at) => ({ ...entry, message: messages[at] ?? '' }));
    await this.#store.append(safe, read);
    for (const [app, own] of Map.groupBy(entries, (entry) => entry.app)) this.#count(app, own.length);
    this.#wake('');
  }

  /** For entries that somebody else has stored. */
  appended(app: string, entries: number): void {
    this.#count(app, entries);
    this.#wake('');
  }

  #count(app: string, entries: number): void {
    this.#lineCounts.set(app, (this.#lineCounts.get(app) ?? 0) + entries);
    this.#wake(app);
    this.#news.publish('log', app);
  }

  /** A message of the platform itself (source `tancho`). A log that cannot be written must not fail the operation. */
  async note(app: string, message: string, source = 'tancho'): Promise<void> {
    const entry: LogEntry = {
      seq: 0,
      at: this.#now().toISOString(),
      app,
      source,
      unit: 'api',
      unitId: '',
      release: 0,
      message,
    };
    await bestEffort(this.#logger, 'writing to the log', () => this.append([entry], (text) => text));
  }

  /** How many entries were written since this was last asked, by app. */
  takeLineCounts(): ReadonlyMap<string, number> {
    const counts = this.#lineCounts;
    this.#lineCounts = new Map();
    return counts;
  }

  /** Calls `wake` after each append to the app's log (of '': to any), until the returned function is called. */
  follow(app: string, wake: () => void): () => void {
    const set = this.#followers.get(app) ?? new Set();
    this.#followers.set(app, set);
    set.add(wake);
    return () => {
      set.delete(wake);
      if (set.size === 0) this.#followers.delete(app);
    };
  }

  #wakeFor(app: string | null): void {
    if (app === null) return void [...this.#followers.keys()].forEach((followed) => this.#wake(followed));
    this.#wake(app);
    this.#wake('');
  }

  #wake(app: string): void {
    for (const wake of this.#followers.get(app) ?? []) wake();
  }
}
