/** Carries a change of an app's record out: at once, or, where it changes what units may use or where they run, with the rollout that makes it so. */
import type { Say } from '../say.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { Engines } from '../units/engines.ts';
import { isSamePlacement } from '../pools/placement.ts';
import type { App, Release } from './app.ts';
import { demandApp } from '../demand-app.ts';
import { demandMove } from './demand-move.ts';
import { isSameAround, planAndPool, type Surroundings, withSurroundings } from './next-release.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';

export type Edit = Partial<
  Pick<App, 'description' | 'platform' | 'teamOwner' | 'teams' | 'pool' | 'plan' | 'settings'>
>;
/** Judged in the transaction that stores it, and before when a rollout comes first. */
export type MakeEdit = (app: App, tx: StoreWriter) => Promise<Edit>;

interface AppEdit {
  apply(name: string, make: MakeEdit, by: string, say: Say): Promise<void>;
  /** Throws what apply() would throw before it begins anything. */
  judge(name: string, make: MakeEdit): Promise<void>;
}

interface AppEditDeps {
  readonly store: Store;
  readonly rollouts: Rollouts;
  readonly engines: Pick<Engines, 'at'>;
  readonly now: () => Date;
}

export function createAppEdit({ store, rollouts, engines, now }: AppEditDeps): AppEdit {
  /** The edit, and what serves, if units of it are to run in other surroundings after it. */
  async function judged(
    tx: StoreWriter,
    name: string,
    make: MakeEdit,
  ): Promise<{ edit: Edit; rolling: Rolling | null }> {
    const app = await demandApp(tx, name);
    const edit = await make(app, tx);
    const serving = app.release === null ? null : await tx.release(name, app.release);
    if (serving === null || (edit.plan === undefined && edit.pool === undefined)) return { edit, rolling: null };
    const around = await planAndPool(tx, { ...app, ...edit });
    const pool = isSamePlacement(around.placement, serving.placement) ? null : (edit.pool ?? app.pool);
    if (pool !== null) await demandMove({ store: tx, engines }, { app, serving, to: around.placement });
    // What the environment has become since counts with the next change that starts units, not here.
    const isSame = isSameAround({ ...around, env: serving.env }, serving);
    if (app.desired !== 'running' || isSame) return { edit, rolling: null };
    return { edit, rolling: { app, serving, around: { ...around, env: await tx.env(name) }, pool } };
  }

  async function storeUnlessRolling(name: string, make: MakeEdit): Promise<Rolling | null> {
    return store.transact(async (tx) => {
      const { edit, rolling } = await judged(tx, name, make);
      if (rolling === null) await tx.updateApp(name, edit);
      return rolling;
    });
  }

  return {
    judge: (name, make) => store.transact(async (tx) => void (await judged(tx, name, make))),

    async apply(name, make, by, say) {
      const rolling = await storeUnlessRolling(name, make);
      if (rolling === null) return;
      const { app, serving, around, pool } = rolling;
      const reason = pool === null ? 'plan' : 'pool';
      const release = withSurroundings(serving, { ...around, reason, by, at: now() });
      const what =
        pool === null
          ? `Restarting the app "${name}" with other limits`
          : `Moving the app "${name}" to the pool ${pool}`;
      say(`---- ${what} ----`);
      await replaceUnits(rollouts, {
        app,
        release,
        reason,
        by,
        say,
        onStep: async (tx, { state }) => {
          if (state === 'routing') await tx.updateApp(name, await make(await demandApp(tx, name), tx));
        },
      });
    },
  };
}

interface Rolling {
  readonly app: App;
  readonly serving: Release;
  readonly around: Surroundings;
  /** The one that it moves to; null: it stays where it is. */
  readonly pool: string | null;
}
