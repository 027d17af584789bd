/** Walks the blocks of an app in the order of their seq, opening only those that can have what is wanted. */
import { setImmediate } from 'node:timers/promises';
import type { LogEntry, LogFilter } from '../../../domain/logs/entry.ts';
import { type BlockRow, openRows, ROW_COLUMNS, streamsOf } from './block-rows.ts';
import type { LogScope } from './schema.ts';
import { Selection } from './selection.ts';

/** Rows are looked through so many at a time, and opened up to so many bytes of messages. */
const PAGE = 64;
const OPENED_BYTES = 512 * 1024;
/** Others come in between. */
const SLICE_MS = 10;

type FoundRow = BlockRow & { readonly filter?: Uint8Array };

/** Oldest first in the answer, wherever it begins to look. */
export async function query(scope: LogScope, filter: LogFilter): Promise<LogEntry[]> {
  if (filter.releases?.length === 0) return [];
  const walk = new Walk(scope, filter);
  while (await walk.goOn());
  return filter.oldestFirst === true ? walk.found : walk.found.reverse();
}

class Walk {
  readonly found: LogEntry[] = [];
  readonly #scope: LogScope;
  readonly #filter: LogFilter;
  readonly #selection: Selection;
  readonly #isForward: boolean;
  /** What is between has not been looked at. */
  #after: number;
  #before: number;
  #lines: number;
  #bytes: number;

  constructor(scope: LogScope, filter: LogFilter) {
    const {
      lines,
      mostBytes = Infinity,
      oldestFirst = false,
      afterSeq = 0,
      beforeSeq = Number.MAX_SAFE_INTEGER,
    } = filter;
    this.#scope = scope;
    this.#filter = filter;
    this.#selection = new Selection(filter);
    this.#isForward = oldestFirst;
    this.#after = afterSeq;
    this.#before = beforeSeq;
    this.#lines = lines === 0 ? Infinity : lines;
    this.#bytes = mostBytes;
  }

  /** One page of rows; false: there is nothing more, or enough. */
  async goOn(): Promise<boolean> {
    const rows = await rowsOf(this.#scope, this.#filter, this.#after, this.#before);
    const wanted = rows.filter((row) => this.#selection.mayHave(streamsOf(row), row.filter));
    let since = performance.now();
    for (const group of groups(wanted, this.#lines)) {
      const isAsBefore = await this.#open(group.map(({ first_seq }) => first_seq));
      if (this.#lines <= 0 || this.#bytes <= 0) return false;
      // Retention took some, or they were made one with others: what is there now is asked for anew.
      if (!isAsBefore) return true;
      if (performance.now() - since > SLICE_MS) {
        await setImmediate();
        since = performance.now();
      }
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return false;
    this.#pass(last);
    return true;
  }

  async #open(firstSeqs: readonly number[]): Promise<boolean> {
    const opened = await openRows(this.#scope, this.#filter.app, firstSeqs);
    for (const first of firstSeqs) {
      const one = opened.get(first);
      if (one === undefined) return false;
      const span = { after: this.#after, before: this.#before, limit: this.#lines };
      for (const entry of this.#selection.entries(one.block, streamsOf(one.row), span)) {
        this.found.push(entry);
        this.#lines -= 1;
        this.#bytes -= entry.message.length;
      }
      if (this.#lines <= 0 || this.#bytes <= 0) return true;
      this.#pass(one.row);
    }
    return true;
  }

  #pass({ first_seq, last_seq }: { readonly first_seq: number; readonly last_seq: number }): void {
    if (this.#isForward) this.#after = Math.max(this.#after, last_seq);
    else this.#before = Math.min(this.#before, first_seq);
  }
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
