/**
 * Looks at what units have written beside their code, which goes with them: one that holds more than it may is ended and begins anew, and
 * when the reserve of the platform is touched, the one that holds most. Its app's log, `tancho app info` and the events say why.
 */
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { Probe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Supervisor } from '../units/supervisor.ts';
import { servingUnits, type Unit } from '../units/unit.ts';
import type { DiskSurvey } from './disk-survey.ts';

export interface UnitSizesDeps {
  readonly store: Pick<Store, 'apps' | 'allUnits'>;
  readonly probe: Pick<Probe, 'disk'>;
  readonly survey: Pick<DiskSurvey, 'units'>;
  readonly supervisor: Pick<Supervisor, 'replaceOutgrown'>;
  readonly settings: Pick<Settings, 'diskReserveBytes' | 'unitDiskBytes'>;
  readonly logger: Logger;
}

/** The free space is asked for this often; files are counted in every third round, and whenever that is too little. */
const EVERY_MS = 10_000;
const ROUNDS_BETWEEN = 3;
/** To end who holds less than this part of the reserve would help nobody. */
const WORTH_ENDING = 1 / 4;

export class UnitSizes {
  readonly #deps: UnitSizesDeps;
  #rounds = 0;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: UnitSizesDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= repeatedly(EVERY_MS, () => this.look());
  }

  async close(): Promise<void> {
    await this.#stop?.();
  }

  /** Never rejects: what cannot be had now is looked at the next time. Resolves when those that are ended are. */
  async look(): Promise<void> {
    const { probe, settings, logger } = this.#deps;
    try {
      const { diskReserveBytes: reserve, unitDiskBytes: most } = settings;
      const isLow = ((await probe.disk())?.freeBytes ?? Infinity) < reserve;
      const isDue = most > 0 && this.#rounds % ROUNDS_BETWEEN === 0;
      this.#rounds += 1;
      if (isLow || isDue) await this.#count(isLow);
    } catch (error) {
      logger.warn({ err: error }, 'the files of units could not be counted');
    }
  }

  async #count(isLow: boolean): Promise<void> {
    const { store, survey, supervisor, settings } = this.#deps;
    const { diskReserveBytes: reserve, unitDiskBytes: most } = settings;
    const sizes = await survey.units();
    const [apps, units] = [await store.apps(), await store.allUnits()];
    const byApp = Map.groupBy(units, ({ app }) => app);
    const serving = apps.flatMap((app) => servingUnits(app, byApp.get(app.name) ?? []));
    const sizeOf = ({ id }: Unit): number => sizes.get(id) ?? 0;
    const largest = serving.filter(({ state }) => state === 'started').sort((a, b) => sizeOf(b) - sizeOf(a));
    const tooLarge = most === 0 ? [] : largest.filter((unit) => sizeOf(unit) > most);
    await Promise.all(
      tooLarge.map((unit) =>
        supervisor.replaceOutgrown(unit, `it has written ${mib(sizeOf(unit))}, and a unit may hold ${mib(most)}`),
      ),
    );
    const [first] = largest;
    if (!isLow || tooLarge.length > 0 || first === undefined || sizeOf(first) < reserve * WORTH_ENDING) return;
    const reason = `the disk of the server is nearly full, and it has written ${mib(sizeOf(first))}, more than any other`;
    await supervisor.replaceOutgrown(first, reason);
  }
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}
