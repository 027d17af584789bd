/** The newest entries of the log of one app, read once for all who follow it. Whoever is slow falls out of it and reads the store. */
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOf, Chunk } from './chunk.ts';
import type { LogEntry } from './entry.ts';
import type { Journal } from './journal.ts';
import type { LogStore } from './log-store.ts';

/** What is read at one time: little, for each reader who waits until it can be sent holds some of it. */
const PAGE = 1_000;
const PAGE_BYTES = 128 * 1024;
/** What is kept for those who are a little slower than the others. */
const KEPT_ENTRIES = 20_000;
const KEPT_BYTES = 4 * 1024 * 1024;
/** Between two looks at a log that is written all the time: each wakes all who follow it. */
const PAUSE_MS = 20;

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface TailDeps {
  readonly logStore: Pick<LogStore, 'query' | 'removed'>;
  readonly journal: Pick<Journal, 'follow'>;
}

/** One for each app that anybody follows, for as long. */
export class Tails {
  readonly #deps: TailDeps;
  readonly #tails = new Map<string, { readonly tail: Tail; followers: number }>();

  constructor(deps: TailDeps) {
    this.#deps = deps;
  }

  /** The second of the answer is to be called once at the end. */
  open(app: string, cursor: number): readonly [tail: Tail, leave: () => void] {
    const known = this.#tails.get(app) ?? { tail: new Tail(this.#deps, app, cursor), followers: 0 };
    this.#tails.set(app, known);
    known.followers += 1;
    const leave = (): void => {
      known.followers -= 1;
      if (known.followers > 0) return;
      this.#tails.delete(app);
      known.tail.close();
    };
    return [known.tail, leave];
  }
}

class Tail {
  readonly #deps: TailDeps;
  readonly #app: string;
  readonly #unfollow: () => void;
  readonly #waiters = new Set<Waiter>();
  #chunks: Chunk[] = [];
  #entries = 0;
  #bytes = 0;
  /** Everything of the app between the two is in the chunks. */
  #from: number;
  #to: number;
  /** There may be more in the store. */
  #isBehind = true;
  #isReading = false;
  #readAt = 0;

  constructor(deps: TailDeps, app: string, cursor: number) {
    this.#deps = deps;
    this.#app = app;
    this.#from = cursor;
    this.#to = cursor;
    this.#unfollow = deps.journal.follow(app, () => {
      this.#isBehind = true;
      if (this.#waiters.size > 0) this.#beginReading();
    });
  }

  /** The newest it knows of. */
  get upTo(): number {
    return this.#to;
  }

  /** What comes next after the seq, as soon as there is something; null: that is no longer here, or the signal has fired. */
  async next(cursor: number, signal: AbortSignal): Promise<Chunk | null> {
    // Whoever has read on in the store is ahead of a tail that has nothing yet.
    if (this.#chunks.length === 0 && cursor > this.#to) this.#beginAnew(cursor);
    while (!signal.aborted && cursor >= this.#from) {
      const chunk = this.#chunkAfter(cursor);
      if (chunk !== null) return chunk;
      await this.#news(signal);
    }
    return null;
  }

  close(): void {
    this.#unfollow();
  }

  #chunkAfter(cursor: number): Chunk | null {
    const chunk = this.#chunks.find(({ upTo }) => upTo > cursor);
    if (chunk === undefined) return null;
    // The very same for all who are up to date, so that it need be put into words once only.
    return chunk.after >= cursor ? chunk : chunk.rest(cursor);
  }

  async #news(signal: AbortSignal): Promise<void> {
    let stop = (): void => undefined;
    const came = new Promise<void>((resolve, reject) => {
      const waiter = { resolve, reject };
      this.#waiters.add(waiter);
      stop = () => {
        this.#waiters.delete(waiter);
        resolve();
      };
    });
    signal.addEventListener('abort', stop);
    if (this.#isBehind) this.#beginReading();
    try {
      await came;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #beginReading(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#read()
      .then(
        () => this.#settle(({ resolve }) => resolve()),
        (error: unknown) => {
          this.#isBehind = true;
          this.#settle(({ reject }) => reject(error));
        },
      )
      .finally(() => {
        this.#isReading = false;
        if (this.#isBehind && this.#waiters.size > 0) this.#beginReading();
      });
  }

  #settle(settle: (waiter: Waiter) => void): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) settle(waiter);
  }

  /** One page: the quickest of those who follow has the next one read, so that what is kept goes on at their pace. */
  async #read(): Promise<void> {
    const pause = this.#readAt + PAUSE_MS - performance.now();
    if (pause > 0) await delay(pause);
    this.#isBehind = false;
    const removed = await this.#deps.logStore.removed(this.#app);
    if (removed !== null && removed.seq > this.#to) this.#beginAnew(removed.seq);
    const afterSeq = this.#to;
    const page = { app: this.#app, lines: PAGE, mostBytes: PAGE_BYTES, oldestFirst: true, afterSeq };
    const entries = await this.#deps.logStore.query(page);
    if (this.#to !== afterSeq) {
      this.#isBehind = true;
      return;
    }
    const isAll = entries.length < PAGE && bytesOf(entries) < PAGE_BYTES;
    this.#add(entries);
    if (isAll) this.#readAt = performance.now();
    else this.#isBehind = true;
  }

  #beginAnew(seq: number): void {
    this.#chunks = [];
    [this.#entries, this.#bytes, this.#from, this.#to] = [0, 0, seq, seq];
  }

  #add(entries: readonly LogEntry[]): void {
    const upTo = entries.at(-1)?.seq;
    if (upTo === undefined) return;
    const chunk = new Chunk(this.#to, upTo, entries);
    this.#chunks.push(chunk);
    this.#to = upTo;
    this.#entries += entries.length;
    this.#bytes += chunk.bytes;
    while (this.#entries > KEPT_ENTRIES || this.#bytes > KEPT_BYTES) {
      const oldest = this.#chunks.shift();
      if (oldest === undefined) return;
      this.#from = oldest.upTo;
      this.#entries -= oldest.entries.length;
      this.#bytes -= oldest.bytes;
    }
  }
}
