/** Built code that no release names. */
import type { ArtifactStore, KeptArtifact } from '../artifacts/artifact-store.ts';
import type { Store } from '../store.ts';
import type { Healer } from './healer.ts';

const GRACE_MS = 10 * 60_000;

export function createSlugsHealer(deps: { store: Store; artifacts: ArtifactStore }): Healer {
  const { store, artifacts: kept } = deps;

  async function needed(apps: readonly string[]): Promise<(artifact: KeptArtifact) => boolean> {
    // First, for what of these ends meanwhile is named.
    const inWork = Map.groupBy(await store.unfinishedDeploys(), ({ app }) => app);
    const named = new Set((await store.artifacts(apps)).map(({ artifact }) => artifact));
    // A deploy names its artifact when it is built; until then it may be any of this app.
    return ({ id, app }) =>
      named.has(id) || (inWork.get(app) ?? []).some(({ artifact }) => artifact === '' || artifact === id);
  }

  return {
    name: 'slugs',
    description: 'removes built code that no release names',

    async find(again) {
      const artifacts = await kept.list(again?.app ?? undefined);
      const isNeeded = await needed([...new Set(artifacts.map(({ app }) => app))]);
      return artifacts
        .filter((artifact) => !isNeeded(artifact))
        .map(({ id, app }) => ({
          target: `slug:${id}`,
          app,
          problem: `No release of ${app} names the slug ${id}.`,
          graceMs: GRACE_MS,
        }));
    },

    async heal({ target }) {
      await kept.remove(target.slice('slug:'.length));
      return 'The slug was removed.';
    },
  };
}
