/** What units print, as it lies in their output files: read, counted as stored elsewhere, and its disk space given back. */
import type { MissingOutput, OutputChunk, OutputFile } from '../../../domain/units/provisioner.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { LiveUnit } from './live-unit.ts';
import { holdRoom, lastLinesOf, planGivingUp, planHole, punchHole, sizeOf, tailOutput } from './output-file.ts';

/** Of each unit, on a disk that is nearly full. */
const HELD_BYTES = 1024 * 1024;

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
  #canPunch = true;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** For people; '' when there is nothing to report. */
  get description(): string {
    return this.#canPunch ? '' : '; read output keeps its disk space, because holes cannot be punched into files here';
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
    const hole = planHole(unit.record.freed, offset, await sizeOf(unit.paths.output));
    if (hole === null || !this.#canPunch) return;
    try {
      await punchHole(unit.paths.output, hole);
      await unit.save({ freed: hole.offset + hole.length });
    } catch (error) {
      this.#canPunch = false;
      this.#logger.warn({ err: error }, 'output files keep their disk space');
    }
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
    for (const unit of units) if (!(await this.#holdFor(unit))) full.push(unit.id);
    return full;
  }

  async #holdFor({ id, isDead, paths }: LiveUnit): Promise<boolean> {
    if (isDead) return true;
    const size = await sizeOf(paths.output);
    const heldTo = this.#heldTo.get(id) ?? 0;
    if (heldTo - size > HELD_BYTES / 2) return true;
    try {
      await holdRoom(paths.output, { offset: size, length: HELD_BYTES });
      this.#heldTo.set(id, size + HELD_BYTES);
    } catch {
      // The next time there may be some.
    }
    return size < heldTo || (heldTo === 0 && this.#heldTo.has(id));
  }

  forget(id: string): void {
    this.#consumedTo.delete(id);
    this.#heldTo.delete(id);
  }
}
