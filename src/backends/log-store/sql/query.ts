/** Walks the blocks of an app in the order of their seq, opening only those that can have what is wanted. */
import { setImmediate } from 'node:timers/promises';
import { PlatformError } from '../../../domain/errors.ts';
import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import type { Searched } from '../../../domain/logs/log-store.ts';
import { type BlockRow, type PackedRow, packedRows, ROW_COLUMNS, streamsOf } from './block-rows.ts';
import { letGo, openBlock } from './block.ts';
import type { LogScope } from './schema.ts';
import type { Finder } from './search/finder.ts';
import type { SearchThreads } from './search/search-threads.ts';
import { type Selected, Selection, type Span } from './selection.ts';

/** Rows are looked through so many at a time, and opened up to so many bytes of messages. */
const PAGE = 64;
const OPENED_BYTES = 512 * 1024;
/** Others come in between. */
const SLICE_MS = 10;
/** So many are asked for before the first has answered. */
const AHEAD = 3;
/** Of messages that a text is looked for in here; what is more is a matter for the threads, and so are all regular expressions. */
const TEXT_HERE_BYTES = 2 * 1024 * 1024;

type FoundRow = BlockRow & { readonly filter?: Uint8Array };

/** Oldest first in the answer, wherever it begins to look. */
export async function query(
  scope: LogScope,
  threads: () => Promise<SearchThreads>,
  filter: LogFilter,
  forMs = Infinity,
): Promise<Searched> {
  if (filter.releases?.length === 0) return { entries: [], stoppedAt: null };
  await letOthersGoOn();
  const walk = new Walk({ scope, threads, filter, finder: await finderFor(filter), forMs });
  while (await walk.goOn());
  const entries = filter.oldestFirst === true ? walk.found : walk.found.reverse();
  return { entries, stoppedAt: walk.stoppedAt };
}

/** Of what is looked for here: texts. */
async function finderFor({ contains, pattern }: LogFilter): Promise<Finder | null> {
  if (contains === undefined || pattern !== undefined) return null;
  const { finderOf } = await import('./search/finder.ts');
  return finderOf({ contains }, true);
}

interface WalkOptions {
  readonly scope: LogScope;
  readonly threads: () => Promise<SearchThreads>;
  readonly filter: LogFilter;
  readonly finder: Finder | null;
  readonly forMs: number;
}

/** Of rows that are being looked at: what is wanted of each. */
interface Looked {
  readonly rows: readonly PackedRow[];
  /** Retention took some, or they were made one with others. */
  readonly isChanged: boolean;
  readonly found: Promise<readonly Selected[]>;
}

class Walk {
  readonly found: LogEntry[] = [];
  stoppedAt: number | null = null;
  readonly #scope: LogScope;
  readonly #threads: () => Promise<SearchThreads>;
  readonly #filter: LogFilter;
  readonly #selection: Selection;
  readonly #isForward: boolean;
  readonly #endAt: number;
  /** What is between has not been looked at. */
  #after: number;
  #before: number;
  #hasLooked = false;
  #lines: number;
  #bytes: number;
  /** Of messages that are still looked at here. */
  #here: number;
  /** The quick way was tried and took too long. */
  #isSafe = false;
  /** The thread had too little memory. */
  #isLarge = false;
  /** A turn of the thread may not be enough: then what is behind it would be asked for in vain. */
  #isSlow: boolean;

  constructor({ scope, threads, filter, finder, forMs }: WalkOptions) {
    const { lines, mostBytes = Infinity, afterSeq = 0, beforeSeq = Number.MAX_SAFE_INTEGER } = filter;
    this.#scope = scope;
    this.#threads = threads;
    this.#filter = filter;
    this.#selection = new Selection(filter, finder);
    this.#isForward = filter.oldestFirst === true;
    this.#endAt = performance.now() + forMs;
    this.#after = afterSeq;
    this.#before = beforeSeq;
    this.#lines = lines === 0 ? Infinity : lines;
    this.#bytes = mostBytes;
    this.#isSlow = filter.pattern !== undefined;
    this.#here = filter.pattern !== undefined ? 0 : finder === null ? Infinity : TEXT_HERE_BYTES;
  }

  /** One page of rows; false: there is nothing more, or enough, or no more time. */
  async goOn(): Promise<boolean> {
    const rows = await rowsOf(this.#scope, this.#filter, this.#after, this.#before);
    const wanted = rows.filter((row) => this.#selection.mayHave(streamsOf(row), row.filter));
    for (const { filter } of rows) if (filter !== undefined) letGoAlone(filter);
    const ahead: Looked[] = [];
    const left = [...groups(wanted, this.#lines)];
    try {
      while (left.length > 0 || ahead.length > 0) {
        const next = left.shift();
        if (next !== undefined) ahead.push(await this.#look(next));
        while (ahead.length > (left.length === 0 || this.#here > 0 || this.#isSlow ? 0 : AHEAD)) {
          // What is there now is asked for anew.
          if (!(await this.#take(ahead.shift()))) return !this.#isEnough();
          // All was looked at, however late it is.
          if (left.length + ahead.length === 0 && rows.length < PAGE) return false;
          if (this.#isEnough()) return false;
        }
      }
    } catch (error) {
      return this.#goOnAfter(error);
    } finally {
      await Promise.allSettled(ahead.map(({ found }) => found));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return false;
    this.#pass(last);
    return !this.#isEnough();
  }

  /** Once more from here: the safe way where the quick one takes too long, with more memory where a thread had too little. */
  #goOnAfter(error: unknown): boolean {
    if (isSearchTooSlow(error)) {
      if (this.#isSafe) return this.#stop();
      this.#isSafe = true;
    } else if (!isOutOfMemory(error)) throw error;
    else if (!this.#isLarge) this.#isLarge = true;
    else if (this.#filter.pattern === undefined) this.#here = Infinity;
    else throw tooMuchMemory(error);
    return !this.#isEnough();
  }

  #isEnough(): boolean {
    if (this.#lines <= 0 || this.#bytes <= 0) return true;
    return this.#hasLooked && performance.now() >= this.#endAt && !this.#stop();
  }

  /** False: no more. */
  #stop(): false {
    this.stoppedAt = this.#isForward ? this.#after : this.#before;
    return false;
  }

  async #look(group: readonly FoundRow[]): Promise<Looked> {
    const firstSeqs = group.map(({ first_seq }) => first_seq);
    const packed = await packedRows(this.#scope, this.#filter.app, firstSeqs);
    const there = firstSeqs.findIndex((first) => !packed.has(first));
    const rows = (there < 0 ? firstSeqs : firstSeqs.slice(0, there)).flatMap((first) => packed.get(first) ?? []);
    const span = { after: this.#after, before: this.#before, limit: this.#lines, bytes: this.#bytes };
    const isHere = this.#here > 0;
    this.#here -= group.reduce((sum, { bytes }) => sum + bytes, 0);
    const found = isHere ? this.#lookHere(rows, span) : this.#lookElsewhere(rows, span);
    found.catch(() => undefined);
    return { rows, isChanged: there >= 0, found };
  }

  async #lookHere(rows: readonly PackedRow[], span: Span): Promise<readonly Selected[]> {
    await letOthersGoOn();
    let left = span.limit;
    return rows.map((row) => {
      const block = openBlock(row.packed);
      const selected = this.#selection.entries(block, streamsOf(row), { ...span, limit: left });
      block.letGo();
      letGoAlone(row.packed);
      left -= selected.entries.length;
      return selected;
    });
  }

  async #lookElsewhere(rows: readonly PackedRow[], span: Span): Promise<readonly Selected[]> {
    const blocks = rows.map(({ streams, packed }) => ({ streams, packed: alone(packed) }));
    const threads = await this.#threads();
    return threads.search({ filter: this.#filter, isSafe: this.#isSafe, isLarge: this.#isLarge, span, blocks });
  }

  /** False: what comes next has to be asked for anew. */
  async #take(looked: Looked | undefined): Promise<boolean> {
    if (looked === undefined) return true;
    for (const [at, { entries, stoppedAt }] of (await looked.found).entries()) {
      for (const entry of entries) {
        if (this.#lines <= 0 || this.#bytes <= 0) return true;
        this.found.push(entry);
        this.#lines -= 1;
        this.#bytes -= entry.message.length;
      }
      if (this.#lines <= 0 || this.#bytes <= 0) return true;
      if (stoppedAt !== null) {
        this.#isSlow = true;
        this.#pass({ first_seq: stoppedAt, last_seq: stoppedAt });
        return false;
      }
      const row = looked.rows[at];
      if (row !== undefined) this.#pass(row);
    }
    this.#isSlow = false;
    return !looked.isChanged;
  }

  #pass({ first_seq, last_seq }: { readonly first_seq: number; readonly last_seq: number }): void {
    this.#hasLooked = true;
    if (this.#isForward) this.#after = Math.max(this.#after, last_seq);
    else this.#before = Math.min(this.#before, first_seq);
  }
}

function isSearchTooSlow(error: unknown): boolean {
  return error instanceof Error && error.name === 'SearchTooSlow';
}

let letOthersAt = 0;

/** However many are reading. */
export async function letOthersGoOn(): Promise<void> {
  if (performance.now() - letOthersAt < SLICE_MS) return;
  await setImmediate();
  letOthersAt = performance.now();
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooMuchMemory(cause: unknown): PlatformError {
  return new PlatformError('input.invalid', 'Parameter "search" is a regular expression that takes too much memory.', {
    hint: 'Search for a simpler one, or for a text.',
    cause,
  });
}

/** In memory of its own, which can be given to a thread. */
function alone(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  return new Uint8Array(isAlone(bytes) && buffer instanceof ArrayBuffer ? buffer : bytes);
}

/** What nobody wants any more, see OpenBlock.letGo(). */
function letGoAlone(bytes: Uint8Array): void {
  if (isAlone(bytes)) letGo(bytes.buffer);
}

function isAlone({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength === byteLength;
}

async function rowsOf({ db }: LogScope, filter: LogFilter, after: number, before: number): Promise<FoundRow[]> {
  const { app, since, until, oldestFirst = false, contains } = filter;
  let rows = db
    .selectFrom('log_blocks')
    .select(ROW_COLUMNS)
    .where('app', '=', app)
    .where('last_seq', '>', after)
    .where('first_seq', '<', before)
    .orderBy(oldestFirst ? 'last_seq' : 'first_seq', oldestFirst ? 'asc' : 'desc')
    .limit(PAGE);
  if (since !== undefined) rows = rows.where('last_at', '>=', since);
  if (until !== undefined) rows = rows.where('first_at', '<', until);
  return contains === undefined ? rows.execute() : rows.select('filter').execute();
}

/** The first ones are no more than will surely be looked at. */
function* groups(rows: readonly FoundRow[], most: number): Generator<readonly FoundRow[]> {
  let group: FoundRow[] = [];
  let [bytes, entries] = [0, 0];
  for (const row of rows) {
    group.push(row);
    bytes += row.bytes;
    entries += row.entries;
    if (bytes >= OPENED_BYTES || entries >= most) {
      yield group;
      [group, bytes, entries] = [[], 0, 0];
    }
  }
  if (group.length > 0) yield group;
}
