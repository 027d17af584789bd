/** The end of volumes. Recorded before anything is taken away, so that what a crash cuts off is carried on. */
import type { Store } from '../store.ts';
import type { VolumeHost, VolumeName } from './volume-host.ts';

interface VolumeRemovalDeps {
  readonly store: Pick<Store, 'transact' | 'volumes'>;
  readonly host: VolumeHost;
}

/** Its record says `removing`. Idempotent. */
export async function removeVolume({ store, host }: VolumeRemovalDeps, volume: VolumeName): Promise<void> {
  await host.remove(volume);
  await store.transact((tx) => tx.deleteVolume(volume.app, volume.name));
}

/** Those whose removal was cut off. */
export async function finishRemovals(deps: VolumeRemovalDeps): Promise<void> {
  for (const volume of await deps.store.volumes()) if (volume.state === 'removing') await removeVolume(deps, volume);
}

/** Of an app that is removed: its units have ended. */
export async function removeVolumesOf(deps: VolumeRemovalDeps, app: string): Promise<void> {
  for (const volume of await deps.store.volumes(app)) await removeVolume(deps, volume);
}
