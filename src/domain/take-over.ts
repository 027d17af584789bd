import { bestEffort } from '../lib/logger.ts';
import { type RecoveryDeps, takeUpWork } from './recovery.ts';

/**
 * Goes on with what a control that died had begun. Whoever calls it has the lease of the dead one, so that nothing of it is written any
 * more. Several dead ones may be followed at one time. After a failure it is called again, with the same control or another one, and goes on with what is left of both.
 */
export function createTakeOver(deps: RecoveryDeps, own: string): (dead: string) => Promise<void> {
  /** Of those that have failed. */
  const left = { rollouts: new Set<string>(), deploys: new Set<string>() };
  return async (dead) => {
    const handed = await deps.store.transact((tx) => tx.handOver(dead, own));
    const rollouts = new Set([...left.rollouts, ...handed.rollouts]);
    const deploys = new Set([...left.deploys, ...handed.deploys]);
    left.rollouts.clear();
    left.deploys.clear();
    let taken;
    try {
      taken = await takeUpWork(deps, { rollouts, deploys });
      await deps.routes.publish();
    } catch (error) {
      for (const id of rollouts) left.rollouts.add(id);
      for (const id of deploys) left.deploys.add(id);
      throw error;
    }
    deps.orphans.wake();
    for (const unit of taken.leftover) await bestEffort(deps.logger, 'retiring a unit', () => deps.units.retire(unit));
    await Promise.all(taken.revivals);
  };
}
