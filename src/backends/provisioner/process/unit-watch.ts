/** Notices what becomes of units that are nobody's children any more: by what is noted of their deaths, and by looking at them. */
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { LiveUnit } from './live-unit.ts';

/** Also where nobody notes it a death is to be known within 300 ms. */
const LIFE_POLL_MS = 250;
const MEMORY_POLL_MS = 1_000;

interface UnitWatchDeps {
  readonly sandbox: Pick<Sandbox, 'onNoted' | 'limits'>;
  /** By id. */
  readonly units: ReadonlyMap<string, LiveUnit>;
  readonly logger: Logger;
}

export class UnitWatch {
  readonly #deps: UnitWatchDeps;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #endNotes: () => void;

  constructor(deps: UnitWatchDeps) {
    this.#deps = deps;
    this.#endNotes = deps.sandbox.onNoted((id) => {
      const unit = deps.units.get(id);
      if (unit !== undefined) this.#look(() => unit.check());
    });
    this.#every(LIFE_POLL_MS, (unit) => !unit.seemsWell() && this.#look(() => unit.check()));
    if (!deps.sandbox.limits.memory) this.#every(MEMORY_POLL_MS, (unit) => this.#look(() => unit.checkMemory()));
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#endNotes();
  }

  #every(ms: number, look: (unit: LiveUnit) => unknown): void {
    const timer = setInterval(() => {
      for (const unit of this.#deps.units.values()) look(unit);
    }, ms);
    this.#timers.push(timer.unref());
  }

  #look(work: () => Promise<void>): void {
    void bestEffort(this.#deps.logger, 'looking after a unit', work);
  }
}
