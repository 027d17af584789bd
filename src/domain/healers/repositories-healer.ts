/** Repositories that no app owns, and apps without a repository. */
import type { GitHost } from '../deploys/git-host.ts';
import type { Store } from '../store.ts';
import type { Finding, Healer } from './healer.ts';

/** They hold what somebody wrote: an operator has a day to notice that a wrong database is behind this home. */
const GRACE_MS = 24 * 60 * 60_000;

export function createRepositoriesHealer(deps: { store: Store; gitHost: GitHost }): Healer {
  const { store, gitHost } = deps;
  return {
    name: 'repositories',
    description: 'removes repositories that no app owns, makes those that are missing',

    async find() {
      const repositories = new Set(await gitHost.list());
      // After the list: what is created meanwhile is no stray.
      const apps = await store.apps();
      const owned = new Set(apps.map((app) => app.name));
      const findings: Finding[] = [];
      for (const name of repositories) {
        if (owned.has(name)) continue;
        const problem = `No app owns the repository ${name}.`;
        findings.push({ target: `repository:${name}`, app: name, problem, graceMs: GRACE_MS });
      }
      for (const { name, removing } of apps) {
        if (repositories.has(name) || removing) continue;
        findings.push({ target: `repository:${name}`, app: name, problem: `${name} has no repository.`, graceMs: 0 });
      }
      return findings;
    },

    async heal({ app }) {
      if (app === null) return 'Nothing was done.';
      if ((await store.app(app)) === null) {
        await gitHost.remove(app);
        return 'The repository was removed.';
      }
      await gitHost.create(app);
      return 'An empty repository was made.';
    },
  };
}
