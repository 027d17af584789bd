import type { Collector } from './logs/collector.ts';
import type { Store } from './store.ts';
import type { Engines } from './units/engines.ts';
import { movedUnits } from './units/moved-units.ts';
import { noteDown } from './units/note-down.ts';
import type { Unit } from './units/unit.ts';
import type { Ownership } from './controls/ownership.ts';

interface AdoptDeps {
  readonly store: Pick<Store, 'release' | 'transact'>;
  readonly provisioner: Pick<Engines, 'recover' | 'list' | 'of'>;
  readonly collector: Pick<Collector, 'attach' | 'has'>;
  readonly ownership: Ownership;
}

/**
 * Has units watched and their output collected that another control has started, whose rollout is this one's now. Resolves with the ids of
 * those that serve no more, or elsewhere, which is noted: while the rollout changed hands nobody may have acted on it.
 */
export function createAdopt(deps: AdoptDeps): (units: readonly Unit[]) => Promise<ReadonlySet<string>> {
  const { store, provisioner, collector, ownership } = deps;
  return async (units) => {
    const others = ownership.isAlone ? [] : units.filter(({ id, handle }) => handle !== null && !collector.has(id));
    if (others.length === 0) return new Set();
    const running = await provisioner.recover(new Map(others.map(({ id, handle }) => [id, handle ?? ''])));
    const moved = await movedUnits(
      provisioner,
      others.filter(({ id }) => running.has(id)),
    );
    const lost = new Set<string>();
    for (const unit of others) {
      const release = await store.release(unit.app, unit.release);
      if (release !== null) collector.attach(unit, release);
      if (unit.state !== 'started' || (running.has(unit.id) && !moved.has(unit.id))) continue;
      await noteDown(store, unit.id);
      lost.add(unit.id);
    }
    return lost;
  };
}
