/** Deploys whose run was cut off: by a crash, or by a platform process that lost the app to another one. */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { Store } from '../store.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import { PlatformError } from '../errors.ts';
import type { StoreWriter } from '../store.ts';
import { announceDeploy } from './announce-deploy.ts';
import { type Deploy, FINISHED } from './deploy.ts';

const INTERRUPTED = 'The deploy was interrupted before the new version served.';

export interface InterruptedDeps {
  readonly store: Store;
  readonly artifacts: Pick<ArtifactStore, 'remove'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** True once the new units serve: such a deploy is only to be recorded as done. */
export function isCommitted(deploy: Pick<Deploy, 'state'>): boolean {
  return deploy.state === 'routing' || deploy.state === 'draining';
}

/** Whoever took over the app has closed this deploy: see closeInterrupted(). */
export async function demandOpen(tx: StoreWriter, id: string): Promise<void> {
  const state = (await tx.deploy(id))?.state;
  if (state === undefined || !FINISHED.has(state)) return;
  throw new PlatformError('app.busy', INTERRUPTED, { hint: 'Look at the app as it is now, then push again.' });
}

/** Records a deploy that nobody runs any more as done or failed; the code of a failed one is thrown away. */
export async function closeInterrupted(deps: InterruptedDeps, deploy: Deploy): Promise<void> {
  const { store, artifacts, logger, now } = deps;
  const finishedAt = now().toISOString();
  if (isCommitted(deploy)) {
    await store.transact(async (tx) => {
      await tx.updateDeploy(deploy.id, { state: 'done', finishedAt });
      await announceDeploy(tx, deploy.id, finishedAt);
    });
    return;
  }
  const isClosed = await store.transact(async (tx) => {
    // It may have ended, or come to serve, since it was read.
    const { state } = (await tx.deploy(deploy.id)) ?? { state: 'done' };
    if (FINISHED.has(state) || isCommitted({ state })) return false;
    await tx.updateDeploy(deploy.id, { state: 'failed', cause: 'interrupted', error: INTERRUPTED, finishedAt });
    await announceDeploy(tx, deploy.id, finishedAt);
    await tx.appendDeployLog(deploy.id, [` !     Deploy failed (interrupted): ${INTERRUPTED}`]);
    return true;
  });
  if (!isClosed) return;
  const { artifact } = deploy;
  if (artifact !== '') await bestEffort(logger, 'removing a slug', () => artifacts.remove(artifact));
}
