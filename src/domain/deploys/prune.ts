/** Which built versions are kept: those of the newest releases and of the one that serves. */
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
  const artifacts = [...new Set(releases.map((release) => release.artifact))];
  const kept = new Set(artifacts.slice(0, settings.keptReleases));
  const serving = releases.find((release) => release.number === app?.release);
  if (serving !== undefined) kept.add(serving.artifact);
  const units = new Set((await store.units(appName)).map((unit) => unit.release));
  for (const release of releases) if (units.has(release.number)) kept.add(release.artifact);
  const gone = releases.filter((release) => !kept.has(release.artifact));
  if (gone.length === 0) return;
  await store.transact(async (tx) => {
    for (const release of gone) await tx.deleteRelease(appName, release.number);
  });
  for (const artifact of new Set(gone.map((release) => release.artifact))) await builder.remove(artifact);
}
