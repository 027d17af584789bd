import type { AppReader } from './app-store.ts';
import type { Release } from './app.ts';

/** A release that is not stored yet: equal to another one but for what is changed. */
export async function changedRelease(
  store: Pick<AppReader, 'releases'>,
  from: Release,
  change: Partial<Pick<Release, 'env' | 'processes' | 'deployId'>> & Pick<Release, 'reason' | 'by'>,
  at: Date,
): Promise<Release> {
  const [newest] = await store.releases(from.app, 1);
  return { ...from, ...change, number: (newest?.number ?? from.number) + 1, createdAt: at.toISOString() };
}
