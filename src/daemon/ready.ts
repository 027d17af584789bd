import { PlatformError } from '../domain/errors.ts';
import type { Store } from '../domain/store.ts';

/** Throws `unavailable` while the platform cannot serve; says it to anybody, so without the address of anything. */
export async function demandReady(isStarted: () => boolean, store: Pick<Store, 'version'>): Promise<void> {
  const hint = 'Try again in a moment.';
  if (!isStarted()) throw new PlatformError('unavailable', 'The platform is starting.', { hint });
  await store.version().catch((cause: unknown) => {
    throw new PlatformError('unavailable', 'The database is out of reach.', { cause, hint });
  });
}
