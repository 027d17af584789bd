import { randomHex } from '../../lib/ids.ts';
import type { Rollout } from '../rollouts/rollout.ts';
import type { Unit } from './unit.ts';

/** One record per unit that is missing of a process, each with the lowest number that no unit of the app has. */
export function newUnits(
  missing: ReadonlyMap<string, number>,
  rollout: Rollout,
  existing: readonly Unit[],
  at: string,
): Unit[] {
  const taken = new Set(existing.map((unit) => unit.index));
  const units: Unit[] = [];
  for (const [process, count] of missing) {
    for (let n = 0; n < count; n++) {
      let index = 0;
      while (taken.has(index)) index++;
      taken.add(index);
      units.push({
        id: randomHex(12),
        app: rollout.app,
        index,
        process,
        release: rollout.release,
        rollout: rollout.id,
        state: 'pending',
        address: null,
        handle: null,
        exits: 0,
        lastExit: null,
        createdAt: at,
      });
    }
  }
  return units;
}
