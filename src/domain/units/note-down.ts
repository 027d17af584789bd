import type { Store } from '../store.ts';

export const DOWN = { state: 'error', address: null } as const;

/** A unit that does not serve any more is out of the routes with the next table. */
export async function noteDown(store: Pick<Store, 'transact'>, id: string): Promise<void> {
  await store.transact(async (tx) => {
    if ((await tx.unit(id))?.state === 'started') await tx.updateUnit(id, DOWN);
  });
}
