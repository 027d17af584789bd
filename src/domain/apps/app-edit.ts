/** Carries a change of an app's record out: at once, or, where it changes what units may use, with the rollout that makes it so. */

import { limitsFor } from '../plans/demand-plan.ts';
import { isSameLimits } from '../plans/plan.ts';
import type { Say } from '../say.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { App, EnvVar, Release } from './app.ts';
import { demandApp } from '../demand-app.ts';
import { withSurroundings } from './next-release.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';

export type Edit = Partial<
  Pick<App, 'description' | 'platform' | 'teamOwner' | 'teams' | 'pool' | 'plan' | 'settings'>
>;
/** Judged in the transaction that stores it, and before when a rollout comes first. */
export type MakeEdit = (app: App, tx: StoreWriter) => Promise<Edit>;

export interface AppEdit {
  apply(name: string, make: MakeEdit, by: string, say: Say): Promise<void>;
}

export function createAppEdit(deps: { store: Store; rollouts: Rollouts; now: () => Date }): AppEdit {
  const { store, rollouts, now } = deps;

  /** What serves, if units of it are to run with other limits after the edit; else null, the edit being stored. */
  async function storeUnlessRolling(name: string, make: MakeEdit): Promise<Rolling | null> {
    return store.transact(async (tx) => {
      const app = await demandApp(tx, name);
      const edit = await make(app, tx);
      const serving = app.release === null ? null : await tx.release(name, app.release);
      if (serving !== null && app.desired === 'running' && edit.plan !== undefined) {
        const limits = await limitsFor(tx, { plan: edit.plan });
        const env = await tx.env(name);
        if (!isSameLimits(limits, serving.limits)) return { app, serving, limits, env };
      }
      await tx.updateApp(name, edit);
      return null;
    });
  }

  return {
    async apply(name, make, by, say) {
      const rolling = await storeUnlessRolling(name, make);
      if (rolling === null) return;
      const { app, serving, limits, env } = rolling;
      const release = withSurroundings(serving, { env, limits, reason: 'plan', by, at: now() });
      say(`---- Restarting the app "${name}" with other limits ----`);
      await replaceUnits(rollouts, {
        app,
        release,
        reason: 'plan',
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
  readonly limits: Release['limits'];
  readonly env: readonly EnvVar[];
}
