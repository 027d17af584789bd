import type { Collector } from './logs/collector.ts';
import type { Store } from './store.ts';
import type { Provisioner } from './units/provisioner.ts';
import type { Unit } from './units/unit.ts';
import type { Ownership } from './controls/ownership.ts';

interface AdoptDeps {
  readonly store: Pick<Store, 'release'>;
  readonly provisioner: Pick<Provisioner, 'recover'>;
  readonly collector: Pick<Collector, 'attach' | 'has'>;
  readonly ownership: Ownership;
}

/** Has units watched and their output collected that another control has started, whose rollout is this one's now. */
export function createAdopt(deps: AdoptDeps): (units: readonly Unit[]) => Promise<void> {
  const { store, provisioner, collector, ownership } = deps;
  return async (units) => {
    if (ownership.isAlone) return;
    const others = units.filter(({ id, handle }) => handle !== null && !collector.has(id));
    if (others.length === 0) return;
    await provisioner.recover(new Map(others.map(({ id, handle }) => [id, handle ?? ''])));
    for (const unit of others) {
      const release = await store.release(unit.app, unit.release);
      if (release !== null) collector.attach(unit, release);
    }
  };
}
