/** What units print, as it lies in their output files: read, counted as stored elsewhere, and its disk space given back. */
import type { OutputChunk } from '../../../domain/units/provisioner.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { LiveUnit } from './live-unit.ts';
import { lastLinesOf, planHole, punchHole, sizeOf, tailOutput } from './output-file.ts';

export class UnitOutputs {
  readonly #logger: Logger;
  /** How far each unit's output is stored elsewhere. */
  readonly #consumedTo = new Map<string, number>();
  #canPunch = true;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** For people; '' when there is nothing to tell. */
  get description(): string {
    return this.#canPunch ? '' : '; read output keeps its disk space, because holes cannot be punched into files here';
  }

  follow({ record, paths, gone }: LiveUnit, fromOffset: number, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    return tailOutput({ path: paths.output, from: Math.max(fromOffset, record.freed), signal, gone });
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

  forget(id: string): void {
    this.#consumedTo.delete(id);
  }
}
