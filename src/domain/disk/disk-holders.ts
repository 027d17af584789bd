/** Who holds what on the disk of the platform: by app, where it is one's. */
import type { Store } from '../store.ts';
import type { DiskSurvey, Holding, HoldingKind } from './disk-survey.ts';

export interface DiskHolder {
  readonly kind: HoldingKind;
  /** '' for what belongs to no app. */
  readonly app: string;
  /** Of what belongs to no app: what it is called. */
  readonly name: string;
  readonly bytes: number;
}

/** Those that hold most come first. Takes seconds where there are many files; who asks while they are counted gets the same count. */
export type DiskHolders = () => Promise<DiskHolder[]>;

const OF_APPS: ReadonlySet<HoldingKind> = new Set(['code', 'build cache', 'repository', 'volume']);

export function createDiskHolders(deps: {
  readonly store: Pick<Store, 'allUnits'>;
  readonly survey: Pick<DiskSurvey, 'holdings'>;
}): DiskHolders {
  let surveying: Promise<Holding[]> | null = null;
  return async () => {
    surveying ??= deps.survey.holdings().finally(() => (surveying = null));
    const [found, units] = await Promise.all([surveying, deps.store.allUnits()]);
    const apps = new Map(units.map((unit) => [unit.id, unit.app]));
    const sums = new Map<string, DiskHolder>();
    for (const holding of found) {
      const one = holderOf(holding, apps);
      const key = JSON.stringify([one.kind, one.app, one.name]);
      sums.set(key, { ...one, bytes: one.bytes + (sums.get(key)?.bytes ?? 0) });
    }
    return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
  };
}

function holderOf({ kind, name, bytes }: Holding, apps: ReadonlyMap<string, string>): DiskHolder {
  if (OF_APPS.has(kind)) return { kind, app: name, name: '', bytes };
  const app = kind === 'unit' ? apps.get(name) : undefined;
  return app === undefined ? { kind, app: '', name, bytes } : { kind, app, name: '', bytes };
}
