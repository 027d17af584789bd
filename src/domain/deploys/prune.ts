/** Which built versions are kept: those of the newest releases and of the one that serves. */
import type { Release } from '../apps/app.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Builder } from './builder.ts';

const SCAN = 500;

export async function pruneReleases(
  deps: { store: Store; builder: Builder; settings: Settings },
  appName: string,
): Promise<void> {
  const { store, builder, settings } = deps;
  const app = await store.app(appName);
  const releases = await store.releases(appName, SCAN);
  const units = new Set((await store.units(appName)).map((unit) => unit.release));
  // The newest releases stay, without gaps: those up to the last artifact that is kept.
  const artifacts = [...new Set(releases.map((release) => release.artifact))];
  const last = artifacts[settings.keptReleases];
  const cut = last === undefined ? releases.length : releases.findIndex((release) => release.artifact === last);
  const isNeeded = ({ number }: Release): boolean => number === app?.release || units.has(number);
  const gone = releases.slice(cut).filter((release) => !isNeeded(release));
  if (gone.length === 0) return;
  await store.transact(async (tx) => {
    for (const release of gone) await tx.deleteRelease(appName, release.number);
  });
  const named = new Set((await store.artifacts([appName])).map(({ artifact }) => artifact));
  const unnamed = new Set(gone.map((release) => release.artifact).filter((artifact) => !named.has(artifact)));
  for (const artifact of unnamed) await builder.remove(artifact);
}
