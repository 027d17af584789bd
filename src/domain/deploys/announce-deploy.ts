import type { StoreWriter } from '../store.ts';
import { announce } from '../webhooks/occurrence.ts';

/** In the transaction that ends a deploy, after it is recorded as it ended. One that somebody cancelled is announced to nobody. */
export async function announceDeploy(tx: StoreWriter, id: string, at: string): Promise<void> {
  const deploy = await tx.deploy(id);
  if (deploy === null || (deploy.state !== 'done' && deploy.state !== 'failed')) return;
  const { app, state, by, release, commit, image, cause, error, durationMs } = deploy;
  const message =
    state === 'done'
      ? `Release ${release ?? '?'} of ${app} was deployed by ${by}.`
      : `A deploy of ${app} failed: ${error}`;
  const facts = {
    ...{ deploy: id, duration_ms: durationMs },
    ...(commit !== '' && { commit }),
    ...(image !== '' && { image }),
    ...(release !== null && { release }),
    ...(cause !== null && { cause }),
  };
  await announce(tx, { kind: state === 'done' ? 'deploy.done' : 'deploy.failed', app, by, message, facts }, at);
}
