/** Warns a pusher, also in the record of the deploy, when visitors of what serves now do not get a page. */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { lookAtPage, type PageDeps, type PageProblem } from '../pages/page.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';

interface PageWarningDeps extends PageDeps {
  readonly store: Store;
  readonly logger: Logger;
}

/** Of the units that serve by now. Bounded in time; never rejects: it serves, whatever is found. */
export async function pageProblem(deps: PageWarningDeps, name: string): Promise<PageProblem | null> {
  let found: PageProblem | null = null;
  await bestEffort(deps.logger, 'looking at the page of an app', async () => {
    const app = await deps.store.app(name);
    if (app !== null) found = await lookAtPage(deps, app);
  });
  return found;
}

export async function warnOfPage(
  { store }: PageWarningDeps,
  { id }: { readonly id: string },
  { text, hint }: PageProblem,
  say: Say,
): Promise<void> {
  say(` !     ${text}`);
  say(`       ${hint}`);
  await store.transact((tx) => tx.updateDeploy(id, { warning: text }));
}
