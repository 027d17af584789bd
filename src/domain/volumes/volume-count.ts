import { PlatformError } from '../errors.ts';
import { MAX_VOLUMES } from './volume.ts';
import type { VolumeReader } from './volume-store.ts';

/** Throws `volume.name_taken`, `quota.exceeded`. */
export async function demandPlaceFor(store: VolumeReader, app: string, name: string): Promise<void> {
  const there = await store.volumes(app);
  if (there.some((volume) => volume.name === name)) {
    throw new PlatformError('volume.name_taken', `The app ${app} has a volume called ${name} already.`, {
      hint: 'Choose another name, or use that one.',
    });
  }
  if (there.length < MAX_VOLUMES) return;
  throw new PlatformError('quota.exceeded', `An app may have ${MAX_VOLUMES} volumes, and ${app} has them.`, {
    hint: `Remove one that is not needed: tancho volume list -a ${app}`,
  });
}
