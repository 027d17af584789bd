/**
 * While the disk is nearly full, each unit has room for what it prints next, for many programs end when they cannot print. Whoever has used that up on a
 * full disk may have lost lines: its log says so as soon as there is room for that.
 */
import type { DiskSpace } from '../diagnosis/probe.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import type { Provisioner } from '../units/provisioner.ts';
import { unitName } from '../units/unit.ts';
import { isFull } from './disk-room.ts';

export interface HeldOutputDeps {
  readonly provisioner: Pick<Provisioner, 'holdOutput'>;
  readonly store: Pick<Store, 'allUnits'>;
  readonly journal: Pick<Journal, 'note'>;
  readonly now: () => Date;
}

export class HeldOutput {
  readonly #deps: HeldOutputDeps;
  #wasLow = false;
  #wasFull = false;
  /** Unit's id -> since when it may have lost lines. */
  readonly #mute = new Map<string, string>();

  constructor(deps: HeldOutputDeps) {
    this.#deps = deps;
  }

  /** To be called often while the disk is low, and once when it is no longer. */
  async look(space: DiskSpace | null, isLow: boolean): Promise<void> {
    const { provisioner, now } = this.#deps;
    const at = now().toISOString();
    const isFullNow = isFull(space);
    const exhausted = isLow || this.#wasLow ? await provisioner.holdOutput() : [];
    if (isFullNow || this.#wasFull) for (const id of exhausted) this.#mute.set(id, this.#mute.get(id) ?? at);
    [this.#wasLow, this.#wasFull] = [isLow, isFullNow];
    if (!isLow && this.#mute.size > 0) await this.#report(at);
  }

  async #report(at: string): Promise<void> {
    const { store, journal } = this.#deps;
    const units = await store.allUnits();
    const muted = [...this.#mute];
    this.#mute.clear();
    for (const [id, since] of muted) {
      const unit = units.find((one) => one.id === id);
      if (unit === undefined) continue;
      const whose = `${unit.process} ${unitName(unit)}`;
      const message = `Lines of ${whose} may be missing from ${since} to ${at}: the disk of the server was full, and it could not print.`;
      await journal.note(unit.app, message);
    }
  }
}
