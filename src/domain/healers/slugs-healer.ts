/** Built code that no release names. */
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { Store } from '../store.ts';
import type { Healer } from './healer.ts';

const GRACE_MS = 10 * 60_000;

export function createSlugsHealer(deps: { store: Store; artifacts: ArtifactStore }): Healer {
  const { store, artifacts: kept } = deps;

  async function isNeeded(app: string): Promise<(artifact: string) => boolean> {
    const named = new Set((await store.artifacts([app])).map(({ artifact }) => artifact));
    const inWork = (await store.unfinishedDeploys()).filter((deploy) => deploy.app === app);
    // A deploy names its artifact when it is built; until then it may be any of this app.
    return (artifact) =>
      named.has(artifact) || inWork.some((deploy) => deploy.artifact === '' || deploy.artifact === artifact);
  }

  return {
    name: 'slugs',
    description: 'removes built code that no release names',

    async find() {
      const byApp = Map.groupBy(await kept.list(), (artifact) => artifact.app);
      const strays: string[][] = [];
      for (const [app, artifacts] of byApp) {
        const needed = await isNeeded(app);
        for (const { id } of artifacts) if (!needed(id)) strays.push([id, app]);
      }
      return strays.map(([id = '', app = '']) => ({
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
