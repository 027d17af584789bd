/** Ends deploys that another control runs, and those of this one for others. */
import { setTimeout as delay } from 'node:timers/promises';
import type { News } from '../controls/news.ts';
import type { Ownership } from '../controls/ownership.ts';
import { PlatformError } from '../errors.ts';
import { Failure } from '../failure.ts';
import type { Store } from '../store.ts';
import { FINISHED } from './deploy.ts';
import type { DeployQueue } from './deploy-queue.ts';
import { isCommitted } from './interrupted.ts';

const ASK_EVERY_MS = 250;
const PATIENCE_MS = 30_000;

interface CancelElsewhereDeps {
  readonly store: Pick<Store, 'deploy'>;
  readonly queue: Pick<DeployQueue, 'cancel'>;
  readonly news: News;
}

/** Resolves when the deploy is over, or serves. Throws PlatformError `timeout` when its control does not answer. */
export type CancelElsewhere = (id: string, by: string) => Promise<void>;

export function createCancelElsewhere({ store, queue, news }: CancelElsewhereDeps): CancelElsewhere {
  news.on('cancel', (subject) => {
    // Messages may have been lost; the one who cancels repeats its own until the deploy is over.
    if (subject === null) return;
    const [id = '', ...by] = subject.split(' ');
    void queue.cancel(id, cancelledBy(by.join(' ')));
  });
  return async (id, by) => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const deploy = await store.deploy(id);
      if (deploy === null || isCommitted(deploy) || FINISHED.has(deploy.state)) return;
      if (Date.now() > deadline) {
        throw new PlatformError('timeout', `Deploy ${id} goes on on another server, which has not ended it in time.`, {
          hint: 'Look at it again in a moment: a server that has died is followed by another one, which closes its deploys.',
        });
      }
      news.publish('cancel', `${id} ${by}`);
      await delay(ASK_EVERY_MS);
    }
  };
}

interface EndDeploysDeps {
  readonly store: Pick<Store, 'unfinishedDeploys'>;
  readonly queue: Pick<DeployQueue, 'cancelAll'>;
  readonly ownership: Pick<Ownership, 'hasDeploy'>;
  readonly cancelElsewhere: CancelElsewhere;
}

/** Of an app that is being removed; resolves when none goes on any more, on whichever control. */
export function createEndDeploys(deps: EndDeploysDeps): (app: string) => Promise<void> {
  const { store, queue, ownership, cancelElsewhere } = deps;
  return async (app) => {
    await queue.cancelAll(app, new Failure('cancelled', 'The app is being removed.'));
    const open = (await store.unfinishedDeploys()).filter((deploy) => deploy.app === app && !isCommitted(deploy));
    for (const { id } of open)
      if (!(await ownership.hasDeploy(id))) await cancelElsewhere(id, 'the removal of the app');
  };
}

export function cancelledBy(who: string): Failure {
  return new Failure('cancelled', `Cancelled by ${who}.`);
}
