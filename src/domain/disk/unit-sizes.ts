/**
 * Looks at what units have written beside their code, which goes with them: one that holds more than it may, in bytes or in files, is ended and begins anew, and
 * when the reserve of the platform is touched, the one that holds most. Its app's log, `tancho app info` and the events say why.
 */
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { Probe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Supervisor } from '../units/supervisor.ts';
import { servingUnits, type Unit } from '../units/unit.ts';
import { isLow } from './disk-room.ts';
import type { DiskSurvey, UnitSize } from './disk-survey.ts';

interface UnitSizesDeps {
  readonly store: Pick<Store, 'apps' | 'allUnits' | 'release'>;
  readonly probe: Pick<Probe, 'disk'>;
  readonly survey: Pick<DiskSurvey, 'units'>;
  readonly supervisor: Pick<Supervisor, 'replaceOutgrown'>;
  readonly settings: Pick<Settings, 'diskReserveBytes' | 'unitDiskBytes' | 'unitFiles'>;
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
  /** Of releases that serve, bytes; 0: they say nothing. */
  readonly #limits = new Map<string, number>();
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
      const isDiskLow = isLow(await probe.disk(), settings);
      const isDue = this.#rounds % ROUNDS_BETWEEN === 0;
      this.#rounds += 1;
      if (isDiskLow || isDue) await this.#count(isDiskLow);
    } catch (error) {
      logger.warn({ err: error }, 'the files of units could not be counted');
    }
  }

  async #count(isDiskLow: boolean): Promise<void> {
    const { store, survey, supervisor, settings } = this.#deps;
    const sizes = await survey.units();
    const [apps, units] = [await store.apps(), await store.allUnits()];
    const byApp = Map.groupBy(units, ({ app }) => app);
    const serving = apps
      .flatMap((app) => servingUnits(app, byApp.get(app.name) ?? []))
      .filter(({ state }) => state === 'started');
    const bytesOf = ({ id }: Unit): number => sizes.get(id)?.bytes ?? 0;
    const reasons = new Map<Unit, string>();
    for (const unit of serving) {
      const reason = outgrown(sizes.get(unit.id) ?? NOTHING, await this.#limitOf(unit), settings.unitFiles);
      if (reason !== null) reasons.set(unit, reason);
    }
    this.#forget(serving);
    await Promise.all([...reasons].map(([unit, reason]) => supervisor.replaceOutgrown(unit, reason)));
    const [first] = serving.sort((a, b) => bytesOf(b) - bytesOf(a));
    if (!isDiskLow || reasons.size > 0 || first === undefined) return;
    if (bytesOf(first) < settings.diskReserveBytes * WORTH_ENDING) return;
    const reason = `the disk of the server is nearly full, and it has written ${mib(bytesOf(first))}, more than any other`;
    await supervisor.replaceOutgrown(first, reason);
  }

  /** Bytes; 0 for no limit. */
  async #limitOf({ app, release }: Unit): Promise<number> {
    const key = `${app} ${release}`;
    // A release never changes.
    const limit = this.#limits.get(key) ?? (await this.#deps.store.release(app, release))?.limits?.diskBytes ?? 0;
    this.#limits.set(key, limit);
    return limit > 0 ? limit : this.#deps.settings.unitDiskBytes;
  }

  #forget(serving: readonly Unit[]): void {
    const used = new Set(serving.map(({ app, release }) => `${app} ${release}`));
    for (const key of this.#limits.keys()) if (!used.has(key)) this.#limits.delete(key);
  }
}

const NOTHING: UnitSize = { bytes: 0, files: 0 };

/** Why a unit holds too much; null: it does not. */
function outgrown({ bytes, files }: UnitSize, mostBytes: number, mostFiles: number): string | null {
  if (mostBytes > 0 && bytes > mostBytes) return `it has written ${mib(bytes)}, and a unit may hold ${mib(mostBytes)}`;
  if (mostFiles > 0 && files > mostFiles) return `it has made ${files} files, and a unit may hold ${mostFiles}`;
  return null;
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}
