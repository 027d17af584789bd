/** What units print, as it lies in their output files: read, counted as stored elsewhere, and its disk space given back. */
import { statfs } from 'node:fs/promises';
import type { MissingOutput, OutputChunk, OutputFile } from '../../../domain/units/provisioner.ts';
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import type { LiveUnit } from './live-unit.ts';
import {
  holdRoom,
  lastLinesOf,
  planGivingUp,
  planHole,
  punchHole,
  sizeOf,
  sizesOf,
  tailOutput,
} from './output-file.ts';

/** Of each unit at most, on a disk that is nearly full; all of them together take a part of what is free, for others need some, too. */
const HELD_BYTES = 1024 * 1024;
const HELD_PART = 1 / 4;
/** After holes could not be punched: whether that passes or not is not known. */
const AGAIN_MS = 10_000;
/** So much may lie where everything was given back, beside what is held behind the end. */
const MOST_BEFORE_BYTES = 4 * 1024 * 1024;

/** A cursor of this engine is the offset of a byte. */
export function offsetOf(cursor: string | null): number {
  return cursor === null ? 0 : Number(cursor);
}

export class UnitOutputs {
  readonly #logger: Logger;
  /** How far each unit's output is stored elsewhere. */
  readonly #consumedTo = new Map<string, number>();
  /** Up to where there is room for what each unit prints next. */
  readonly #heldTo = new Map<string, number>();
  /** Taken by each unit's file beside what is not given back yet, when that was last all given back: file systems take some for themselves. */
  readonly #besideOf = new Map<string, number>();
  /** When it failed to punch holes the last time, by the clock; null: it did not. */
  #failedAtMs: number | null = null;
  readonly #nowMs: () => number;
  readonly #freeBytes: (path: string) => Promise<number>;

  constructor(logger: Logger, nowMs: () => number = () => performance.now(), freeBytes = freeBytesAt) {
    this.#logger = logger;
    this.#nowMs = nowMs;
    this.#freeBytes = freeBytes;
  }

  get #canPunch(): boolean {
    return this.#failedAtMs === null || this.#nowMs() - this.#failedAtMs >= AGAIN_MS;
  }

  /** For people; '' when there is nothing to report. */
  get description(): string {
    return this.#failedAtMs === null
      ? ''
      : '; read output keeps its disk space, because holes cannot be punched into files here';
  }

  async *follow(unit: LiveUnit, after: string | null, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    const file = this.fileOf(unit, offsetOf(after));
    for await (const { offset, ...read } of tailOutput({ ...file, signal })) yield { ...read, cursor: String(offset) };
  }

  fileOf({ record, paths, gone }: LiveUnit, fromOffset: number): OutputFile {
    const { freed, givenUp } = record;
    const isGivenUp = givenUp !== undefined && fromOffset >= givenUp.from && fromOffset < givenUp.upTo;
    if (!isGivenUp) return { path: paths.output, from: Math.max(fromOffset, freed), gone };
    const { upTo, lines } = givenUp;
    const missing: MissingOutput = { lines, bytes: upTo - fromOffset, why: 'no room' };
    return { path: paths.output, from: upTo, missing, gone };
  }

  lastLines({ record, paths }: LiveUnit, count: number): Promise<string[]> {
    return lastLinesOf(paths.output, count, record.freed);
  }

  /** What lies before the offset is stored elsewhere. */
  noteConsumed({ id }: LiveUnit, offset: number): void {
    this.#consumedTo.set(id, Math.max(offset, this.#consumedTo.get(id) ?? 0));
  }

  async isAllConsumed(unit: LiveUnit): Promise<boolean> {
    return (this.#consumedTo.get(unit.id) ?? 0) >= (await sizeOf(unit.paths.output));
  }

  /** Gives back the disk space of what lies before the offset, where this machine can; one at a time for one unit. */
  async free(unit: LiveUnit, offset: number): Promise<void> {
    if (!this.#canPunch) return;
    const { id, record, paths } = unit;
    const { size, taken } = await sizesOf(paths.output);
    // A unit may write anywhere in its file.
    const isFilledAgain = taken - (size - record.freed) - (this.#besideOf.get(id) ?? 0) > MOST_BEFORE_BYTES;
    const hole = planHole(isFilledAgain ? 0 : record.freed, offset, size);
    if (hole === null) return;
    const freed = Math.max(record.freed, hole.offset + hole.length);
    try {
      await punchHole(paths.output, hole);
      this.#failedAtMs = null;
    } catch (error) {
      if (this.#failedAtMs === null) this.#logger.warn({ err: error }, 'output files keep their disk space');
      this.#failedAtMs = this.#nowMs();
      return;
    }
    if (isFilledAgain) {
      const left = await sizesOf(paths.output);
      this.#besideOf.set(id, Math.max(left.taken - (left.size - freed), 0));
    }
    // What is not noted is read as it was stored: nobody goes back behind that.
    await bestEffort(this.#logger, 'noting what of an output is given back', () => unit.save({ freed }));
  }

  /** False: there is too little of it, or this machine cannot do it. */
  async giveUp(unit: LiveUnit, fromOffset: number): Promise<boolean> {
    if (!this.#canPunch) return false;
    const { givenUp: known, freed } = unit.record;
    const isMore = known !== undefined && fromOffset >= known.from && fromOffset < known.upTo;
    const plan = await planGivingUp(unit.paths.output, isMore ? known.upTo : Math.max(fromOffset, freed));
    if (plan === null) return false;
    const givenUp = { from: fromOffset, upTo: plan.upTo, lines: plan.lines + (isMore ? known.lines : 0) };
    // On a full disk there is room for the note only when the space is given back.
    const isNoted = await unit.save({ givenUp }).then(
      () => true,
      () => false,
    );
    await this.free(unit, plan.upTo);
    if (!isNoted) await unit.save({ givenUp });
    return true;
  }

  /** Makes sure of room for what each prints next; answers those that had used up what was held, or had none. */
  async hold(units: Iterable<LiveUnit>): Promise<string[]> {
    const full: string[] = [];
    const living = [...units].filter(({ isDead }) => !isDead);
    const [first] = living;
    if (first === undefined) return full;
    const free = await this.#freeBytes(first.paths.directory);
    const bytes = Math.min(HELD_BYTES, Math.floor((free * HELD_PART) / living.length));
    for (const unit of living) if (!(await this.#holdFor(unit, bytes))) full.push(unit.id);
    return full;
  }

  async #holdFor({ id, paths }: LiveUnit, length: number): Promise<boolean> {
    const size = await sizeOf(paths.output);
    const heldTo = this.#heldTo.get(id) ?? 0;
    if (heldTo - size > length / 2) return true;
    try {
      await holdRoom(paths.output, { offset: size, length });
      this.#heldTo.set(id, size + length);
    } catch {
      // The next time there may be some.
    }
    return size < heldTo || (heldTo === 0 && this.#heldTo.has(id));
  }

  forget(id: string): void {
    this.#consumedTo.delete(id);
    this.#heldTo.delete(id);
    this.#besideOf.delete(id);
  }
}

async function freeBytesAt(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
