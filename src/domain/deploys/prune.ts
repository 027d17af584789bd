/** Which releases are kept, and with them the built code: what serves, what can be gone back to, and the newest. */
import { type PublishedDeps, withdrawPublished } from '../artifacts/published-artifacts.ts';
import type { Settings } from '../settings.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';

/** Of the same code; they differ in environment, limits or numbers of units. */
const KEPT_PER_ARTIFACT = 10;

export interface PruneDeps extends Omit<PublishedDeps, 'engines'> {
  readonly artifacts: Pick<ArtifactStore, 'remove'>;
  readonly settings: Pick<Settings, 'keptReleases'>;
}

/** To be called by who holds the app's lease. */
export async function pruneReleases(deps: PruneDeps, appName: string): Promise<void> {
  const { store, artifacts, settings } = deps;
  const releases = [...(await store.artifacts([appName]))].sort((a, b) => b.release - a.release);
  const serving = (await store.app(appName))?.release ?? null;
  const units = new Set((await store.units(appName)).map((unit) => unit.release));
  const previous = releases.find(({ release }) => serving !== null && release < serving)?.release;
  const surplus = [...new Set(releases.map(({ artifact }) => artifact))][settings.keptReleases];
  // The newest stay without gaps: none is kept that is older than the first whose code goes.
  const cut = releases.find(({ artifact }) => artifact === surplus)?.release ?? 0;
  const counts = new Map<string, number>();
  const kept = releases.filter(({ release, artifact }) => {
    const count = (counts.get(artifact) ?? 0) + 1;
    counts.set(artifact, count);
    const isRecent = release > cut && count <= KEPT_PER_ARTIFACT;
    return isRecent || release === serving || release === previous || units.has(release);
  });
  const gone = releases.filter((release) => !kept.includes(release));
  if (gone.length === 0) return;
  await store.transact(async (tx) => {
    for (const { release } of gone) await tx.deleteRelease(appName, release);
  });
  const named = new Set(kept.map(({ artifact }) => artifact));
  const unnamed = new Set(gone.map(({ artifact }) => artifact).filter((artifact) => !named.has(artifact)));
  const published = new Set(gone.map((release) => release.published));
  for (const release of [{ published: '' }, ...kept]) published.delete(release.published);
  await withdrawPublished(deps, appName, published);
  for (const artifact of unnamed) await artifacts.remove(artifact);
}
