/** What is special about a rollout that replaces only some of an app's units: which ones stay, and how the set changes hands. */
import type { StoreWriter } from '../store.ts';
import type { App, Release } from '../apps/app.ts';
import type { Rollout } from './rollout.ts';
import { servingUnits, type Unit } from '../units/unit.ts';
import { bestUnits, type Power, wantedCounts } from '../units/wanted-units.ts';

/** The part of a RolloutPlan that decides which units there are to be. */
interface UnitsPlan {
  readonly app: App;
  readonly release: Pick<Release, 'processes'>;
  readonly power?: Power;
  readonly replaced?: readonly string[];
}

export function powerOf({ app, power }: UnitsPlan): Power {
  return power ?? { desired: 'running', stoppedProcesses: app.stoppedProcesses };
}

/** How many units there are to be. */
export function unitsOf(plan: UnitsPlan): number {
  return [...wantedCounts(plan.release, powerOf(plan)).values()].reduce((sum, count) => sum + count, 0);
}

/** The serving units that the plan leaves as they are. */
export function stayingUnits(plan: UnitsPlan, existing: readonly Unit[]): Unit[] {
  const { app, release, replaced } = plan;
  if (replaced === undefined) return [];
  const kept = servingUnits(app, existing).filter((unit) => !replaced.includes(unit.process));
  return bestUnits(kept, wantedCounts(release, powerOf(plan)));
}

/**
 * Where units stay, the rollout that serves goes on serving: the new units join it, and those that are to go change to the new
 * rollout, which ends them. Nobody who reads the app and its units one after the other ever misses one that stays.
 * Answers the rollout that serves.
 */
export async function exchangeUnits(tx: StoreWriter, rollout: Rollout, plan: UnitsPlan): Promise<string> {
  const serving = plan.app.rollout ?? rollout.id;
  const units = await tx.units(rollout.app);
  const stay = new Set(stayingUnits(plan, units).map((unit) => unit.id));
  for (const unit of units) {
    if (unit.rollout === rollout.id) await tx.updateUnit(unit.id, { rollout: serving });
    else if (stay.has(unit.id)) await tx.updateUnit(unit.id, { release: rollout.release });
    else if (unit.rollout === serving) await tx.updateUnit(unit.id, { rollout: rollout.id });
  }
  return serving;
}
