/** Warns a pusher of files that will be lost with the units that are about to be replaced. */
import type { App } from '../apps/app.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import type { Provisioner } from '../units/provisioner.ts';
import { servingUnits } from '../units/unit.ts';

interface LostDataDeps {
  readonly store: Pick<Store, 'units'>;
  readonly provisioner: Pick<Provisioner, 'writtenData'>;
}

export async function warnOfData({ store, provisioner }: LostDataDeps, app: App, say: Say): Promise<void> {
  const units = servingUnits(app, await store.units(app.name));
  const found = new Set((await Promise.all(units.map(({ id }) => provisioner.writtenData(id)))).flat());
  if (found.size === 0) return;
  say(` !     The running units have written ${[...found].sort().join(', ')} beside their code.`);
  say(' !     Such files go with each unit, at every restart and deploy. To keep them, put them into a volume:');
  say(`       tancho volume create data -a ${app.name}`);
  say(`       tancho volume mount data ${placeFor([...found].sort()[0] ?? '')} -a ${app.name}`);
  say('       Databases are better off in a service: tancho instance bind');
}

/** The directory of what was written: a volume hides what the code has there. */
function placeFor(written: string): string {
  const directory = written.endsWith('/') ? written.slice(0, -1) : written.split('/').slice(0, -1).join('/');
  return directory === '' ? 'data' : directory;
}
