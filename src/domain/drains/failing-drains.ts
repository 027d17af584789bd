import type { DrainCursors } from '../logs/drain-cursors.ts';
import type { Store } from '../store.ts';
import { shownReceiver } from './drain.ts';

export interface FailingDrainsDeps {
  readonly store: Pick<Store, 'drains'>;
  readonly logStore: Pick<DrainCursors, 'drainCursor'>;
}

/** A sentence for each drain of the app whose receiver does not take its lines; none where that is not known. */
export async function failingDrains({ store, logStore }: FailingDrainsDeps, app: string): Promise<string[]> {
  const drains = (await store.drains()).filter((drain) => drain.app === app);
  const sentences = drains.map(async ({ id, target }) => {
    const cursor = await logStore.drainCursor(id).catch(() => null);
    if (cursor === null || cursor.failures === 0) return [];
    return [`Its drain ${id} to ${shownReceiver(target)} fails: ${cursor.lastError}`];
  });
  return (await Promise.all(sentences)).flat();
}
