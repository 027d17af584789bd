/** A change of an app's environment takes effect: one release and one rollout, all or nothing. */
import type { Store, StoreWriter } from '../store.ts';
import type { Say } from '../say.ts';
import type { App, EnvVar } from '../apps/app.ts';
import { planAndPool, withSurroundings } from '../apps/next-release.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { RolloutStep } from '../rollouts/rollout-plan.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';

export interface EnvChangeDeps {
  readonly store: Store;
  readonly rollouts: Rollouts;
  readonly now: () => Date;
}

interface ChangedEnv {
  /** As read under its lease, which the caller holds. */
  readonly app: App;
  /** As it is to be from now on. */
  readonly env: readonly EnvVar[];
  /** Stores the change; for a running app in the transaction that makes the new units serve. */
  readonly write: (tx: StoreWriter) => Promise<void>;
  /** The units that run go on with what they have. */
  readonly noRestart: boolean;
  readonly by: string;
  readonly say: Say;
}

/** Throws unit.failed when the app does not start with it, and then nothing has changed. */
export async function changeEnv(deps: EnvChangeDeps, change: ChangedEnv): Promise<void> {
  const { store, rollouts, now } = deps;
  const { app, env, by, say, write } = change;
  const serving = app.release === null ? null : await store.release(app.name, app.release);
  if (serving === null || change.noRestart || app.desired === 'stopped') {
    await store.transact(write);
    return;
  }
  const around = { env, ...(await planAndPool(store, app)) };
  const release = withSurroundings(serving, { ...around, reason: 'env', by, at: now() });
  say(`---- Restarting the app "${app.name}" ----`);
  const onStep = async (tx: StoreWriter, step: RolloutStep): Promise<void> => {
    if (step.state === 'routing') await write(tx);
  };
  await replaceUnits(rollouts, { app, release, reason: 'env', by, say, onStep });
}
