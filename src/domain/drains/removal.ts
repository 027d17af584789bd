import type { Store } from '../store.ts';
import type { DrainDeliveries } from './deliveries.ts';

/** Of an app that is being removed, so that none can be added meanwhile. Idempotent. */
export async function removeDrainsOf(
  { store, deliveries }: { readonly store: Store; readonly deliveries: Pick<DrainDeliveries, 'changed'> },
  app: string,
): Promise<void> {
  const drains = (await store.drains()).filter((drain) => drain.app === app);
  if (drains.length === 0) return;
  await store.transact((tx) => tx.deleteDrainsOf(app));
  for (const { id } of drains) await deliveries.changed(id);
}
