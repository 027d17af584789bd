/** Tells a pusher what the units that are about to be replaced take with them. */
import type { App } from '../apps/app.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import type { Provisioner } from '../units/provisioner.ts';
import { servingUnits } from '../units/unit.ts';

export interface LostDataDeps {
  readonly store: Pick<Store, 'units'>;
  readonly provisioner: Pick<Provisioner, 'writtenData'>;
}

export async function warnOfData({ store, provisioner }: LostDataDeps, app: App, say: Say): Promise<void> {
  const units = servingUnits(app, await store.units(app.name));
  const found = new Set((await Promise.all(units.map(({ id }) => provisioner.writtenData(id)))).flat());
  if (found.size === 0) return;
  say(` !     The running units have written ${[...found].sort().join(', ')} beside their code.`);
  say(' !     Such files go with each unit, at every restart and deploy. Keep data in a service: tancho instance bind');
}
