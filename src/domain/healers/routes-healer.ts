/** Routes that point nowhere, and units that no route points at: the router's table against what the store says. */
import type { Routes } from '../routes/routes.ts';
import type { Healer } from './healer.ts';

export function createRoutesHealer(routes: Routes): Healer {
  return {
    name: 'routes',
    description: 'hands the router the table it should serve by',

    async find() {
      const faults = await routes.faults();
      return faults.map(({ app, problem }) => ({ target: `app:${app}`, app, problem, graceMs: 0 }));
    },

    async heal() {
      await routes.republish();
      return 'The router has taken the right table.';
    },
  };
}
