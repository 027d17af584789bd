/** Use cases of how the edge treats the requests to an app. */
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import { type Caller, callerName } from '../caller.ts';
import { demandApp } from '../demand-app.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import type { Routes } from '../routes/routes.ts';
import type { Store } from '../store.ts';
import { changedEdge, EDGE_SETTINGS, type EdgeChange, type EdgeSettings } from './edge-settings.ts';

export interface AppEdge {
  /** Errors: app.not_found, access.denied. */
  settings(caller: Caller, app: string): Promise<EdgeSettings>;
  /**
   * All of it or nothing; resolves with what is in effect then. Needs no turn: maintenance is for what goes on with the app meanwhile.
   * Errors: app.not_found, access.denied, input.invalid, unavailable when the router stays out of reach: it hears of it later.
   */
  change(caller: Caller, app: string, change: EdgeChange): Promise<EdgeSettings>;
}

export function createAppEdge(deps: {
  readonly store: Store;
  readonly routes: Pick<Routes, 'publishStored'>;
  readonly journal: Journal;
  readonly act: Act;
}): AppEdge {
  const { store, routes, journal, act } = deps;
  return {
    async settings(caller, name) {
      const app = await demandApp(store, name);
      demand(caller, 'app.info', { app });
      return app.edge;
    },

    async change(caller, name, change) {
      const app = await demandApp(store, name);
      const names = EDGE_SETTINGS.filter((one) => change[one] !== undefined);
      const options = { target: `app:${name}`, detail: names.join(', ') };
      return act(caller, 'app.edge', { app }, options, async () => {
        if (names.length === 0) {
          throw new PlatformError('input.invalid', 'Nothing to change was given.', {
            hint: `Send some of: ${EDGE_SETTINGS.join(', ')}.`,
          });
        }
        const edge = await store.transact(async (tx) => {
          const changed = changedEdge((await demandApp(tx, name)).edge, change);
          await tx.updateApp(name, { edge: changed });
          return changed;
        });
        const said = names.map((one) => (one === 'maintenancePage' ? one : `${one} ${String(edge[one])}`));
        await journal.note(name, `${callerName(caller)} changed how requests are treated: ${said.join(', ')}`);
        await routes.publishStored(name);
        return edge;
      });
    },
  };
}
