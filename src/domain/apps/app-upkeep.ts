/** Use cases of operators who look after one app: whether it is free, and whether the router serves it as it should. */
import { hostPort } from '../../lib/host-port.ts';
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import type { Store } from '../store.ts';
import { demandApp } from '../demand-app.ts';
import type { Target } from '../routes/router.ts';
import type { Routes } from '../routes/routes.ts';

/** Addresses of units, `http://<host>:<port>`; sorted. */
export interface RoutesChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface AppUpkeep {
  /**
   * Resolves when nobody works on the app. Nothing is broken off: what is under way is waited for, and what somebody who died
   * has left is free by itself. Errors: app.not_found, app.busy after half a minute, saying who is at work.
   */
  unlock(caller: Caller, app: string): Promise<void>;
  /** Brings the routes to the router once more; answers what that changed for the app. */
  republish(caller: Caller, app: string): Promise<RoutesChange>;
  /** The variables by which an app's metrics are sent elsewhere: none, the platform sends them nowhere. */
  metricEnvs(caller: Caller, app: string): Promise<Readonly<Record<string, string>>>;
}

export function createAppUpkeep({ store, routes, act }: { store: Store; routes: Routes; act: Act }): AppUpkeep {
  return {
    async unlock(caller, name) {
      const app = await demandApp(store, name);
      await act(caller, 'app.unlock', { app }, { target: `app:${name}`, lease: `app:${name}` }, async () => {
        await demandApp(store, name);
      });
    },

    async republish(caller, name) {
      const app = await demandApp(store, name);
      return act(caller, 'app.routes', { app }, { target: `app:${name}` }, async () => {
        const before = addresses(routes.targets(name));
        await routes.publish(name);
        const after = addresses(routes.targets(name));
        return {
          added: after.filter((address) => !before.includes(address)),
          removed: before.filter((address) => !after.includes(address)),
        };
      });
    },

    async metricEnvs(caller, name) {
      demand(caller, 'app.info', { app: await demandApp(store, name) });
      return {};
    },
  };
}

function addresses(targets: readonly Target[]): string[] {
  return targets.map((target) => `http://${hostPort(target)}`).sort();
}
