/** Ends the build or command that has written most while the disk is low: before any unit, for what serves is asked for. */
import { atMost, DeadlineExceeded, inTime } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Journal } from '../logs/journal.ts';
import { isMuch, type Shortage, shortOf } from './disk-room.ts';
import type { DiskWriters, RunningWriter } from './disk-writers.ts';

export interface LargestWriterDeps {
  readonly diskWriters: Pick<DiskWriters, 'list'>;
  readonly journal: Pick<Journal, 'note'>;
  readonly logger: Logger;
  /** Between two counts of what builds and commands have written; absent: 2,000. */
  readonly writersMs?: number;
  /** How long one count may take; absent: 10,000. */
  readonly writersCountMs?: number;
}

const EVERY_MS = 2_000;
const COUNT_MS = 10_000;
/** Most counts are done by then. */
const WAIT_MS = 300;
/** For what it has written to be removed. */
const REMOVAL_MS = 30_000;

export class LargestWriter {
  readonly #deps: LargestWriterDeps;
  #counting: Promise<void> | null = null;
  /** When they are counted again at the earliest. */
  #nextAt = 0;
  /** By the last count. */
  #isNone = false;

  constructor(deps: LargestWriterDeps) {
    this.#deps = deps;
  }

  /**
   * To be called often, with null while the disk is not low. Resolves soon, with whether room is to be made by others: none of the builds and commands
   * has written much, and none is being ended. They are counted beside.
   */
  async look(shortage: Shortage | null): Promise<boolean> {
    if (shortage === null) return (this.#isNone = false);
    const all = this.#deps.diskWriters.list();
    if (all.some((one) => (one.endedMs() ?? Infinity) < REMOVAL_MS)) return false;
    const running = all.filter((one) => one.endedMs() === null);
    if (running.length === 0) return true;
    if (this.#counting === null && performance.now() >= this.#nextAt)
      this.#counting = this.#endLargest(running, shortage).finally(() => (this.#counting = null));
    if (this.#counting !== null) await atMost(WAIT_MS, this.#counting);
    return this.#isNone;
  }

  async close(): Promise<void> {
    await this.#counting;
  }

  /** Never rejects. */
  async #endLargest(running: readonly RunningWriter[], shortage: Shortage): Promise<void> {
    const { diskWriters, journal, writersMs = EVERY_MS } = this.#deps;
    this.#isNone = false;
    const held = await Promise.all(running.map((one) => this.#writtenBy(one, shortage)));
    this.#nextAt = performance.now() + writersMs;
    const most = mostOf(held, shortage);
    const writer = running[held.indexOf(most)];
    this.#isNone = !isMuch(most, shortage);
    // It may be over by now.
    if (writer === undefined || this.#isNone || !diskWriters.list().includes(writer)) return;
    const than = most === Infinity ? '' : ', more than any other build or command';
    const reason = `The ${writer.what} was ended: ${shortOf(shortage, most)}${than}.`;
    writer.end(reason);
    await journal.note(writer.app, reason);
  }

  /** Infinity where it cannot be counted, or what was there before: whoever writes too many files for that is not left alone for it. */
  async #writtenBy(writer: RunningWriter, { of: kind }: Shortage): Promise<number> {
    const { logger, writersCountMs = COUNT_MS } = this.#deps;
    const over = new AbortController();
    try {
      const late = (): Error => new DeadlineExceeded(`Not counted within ${writersCountMs} ms.`);
      return await inTime(writersCountMs, writer.written(kind, over.signal), late);
    } catch (error) {
      logger.warn({ err: error, app: writer.app }, `what a ${writer.what} has written could not be counted`);
      return Infinity;
    } finally {
      over.abort();
    }
  }
}

/** Who has been counted comes first: of who has not, it is only known that there is much to count, and not whose it is. */
function mostOf(held: readonly number[], shortage: Shortage): number {
  const counted = Math.max(0, ...held.filter(Number.isFinite));
  return isMuch(counted, shortage) ? counted : Math.max(...held);
}
