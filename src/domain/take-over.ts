import { bestEffort } from '../lib/logger.ts';
import { type RecoveryDeps, takeUpWork } from './recovery.ts';

/**
 * Goes on with what a control that died had begun. Whoever calls it has the lease of the dead one, so that nothing of it is written any
 * more. After a failure it is called again, with the same control or another one, and goes on with what is left of both.
 */
export function createTakeOver(deps: RecoveryDeps, own: string): (dead: string) => Promise<void> {
  const rollouts = new Set<string>();
  const deploys = new Set<string>();
  return async (dead) => {
    const handed = await deps.store.transact((tx) => tx.handOver(dead, own));
    for (const id of handed.rollouts) rollouts.add(id);
    for (const id of handed.deploys) deploys.add(id);
    const { leftover, revivals } = await takeUpWork(deps, { rollouts, deploys });
    await deps.routes.publish();
    deps.orphans.wake();
    rollouts.clear();
    deploys.clear();
    for (const unit of leftover) await bestEffort(deps.logger, 'retiring a unit', () => deps.units.retire(unit));
    await Promise.all(revivals);
  };
}
