/** Use case of operators: how full the disk is, and who holds what of it. */
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import type { DiskSpace, Probe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { DiskSurvey, Holding, HoldingKind } from './disk-survey.ts';

interface Holder {
  readonly kind: HoldingKind;
  /** '' for what belongs to no app. */
  readonly app: string;
  /** Of what belongs to no app: what it is called. */
  readonly name: string;
  readonly bytes: number;
}

export interface DiskReport {
  /** Null where it cannot be asked. */
  readonly space: DiskSpace | null;
  /** Below so much free space no new code is taken. */
  readonly reserveBytes: number;
  /** Those that hold most come first. */
  readonly holders: readonly Holder[];
}

export interface DiskUse {
  /** For admins. Takes seconds where there are many files. */
  report(caller: Caller): Promise<DiskReport>;
}

interface DiskUseDeps {
  readonly store: Pick<Store, 'allUnits'>;
  readonly probe: Pick<Probe, 'disk'>;
  readonly survey: DiskSurvey;
  readonly settings: Pick<Settings, 'diskReserveBytes'>;
}

const OF_APPS: ReadonlySet<HoldingKind> = new Set(['code', 'build cache', 'repository', 'volume']);

export function createDiskUse({ store, probe, survey, settings }: DiskUseDeps): DiskUse {
  let surveying: Promise<Holding[]> | null = null;

  /** Who asks while files are being counted gets the same count. */
  function holdings(): Promise<Holding[]> {
    surveying ??= survey.holdings().finally(() => (surveying = null));
    return surveying;
  }

  return {
    async report(caller) {
      demand(caller, 'server.disk');
      const [space, found, units] = await Promise.all([probe.disk(), holdings(), store.allUnits()]);
      const apps = new Map(units.map((unit) => [unit.id, unit.app]));
      const sums = new Map<string, Holder>();
      for (const holding of found) {
        const one = holderOf(holding, apps);
        const key = JSON.stringify([one.kind, one.app, one.name]);
        sums.set(key, { ...one, bytes: one.bytes + (sums.get(key)?.bytes ?? 0) });
      }
      const holders = [...sums.values()].sort((a, b) => b.bytes - a.bytes);
      return { space, reserveBytes: settings.diskReserveBytes, holders };
    },
  };
}

function holderOf({ kind, name, bytes }: Holding, apps: ReadonlyMap<string, string>): Holder {
  if (OF_APPS.has(kind)) return { kind, app: name, name: '', bytes };
  const app = kind === 'unit' ? apps.get(name) : undefined;
  return app === undefined ? { kind, app: '', name, bytes } : { kind, app, name: '', bytes };
}
