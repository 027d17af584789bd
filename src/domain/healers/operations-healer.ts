/** Deploys, rollouts and removals that were begun and that nobody carries on. */
import type { Removal } from '../apps/removal.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { DeployOrder } from '../deploys/deploy-order.ts';
import type { DeployQueue } from '../deploys/deploy-queue.ts';
import { closeInterrupted } from '../deploys/interrupted.ts';
import type { Ownership } from '../controls/ownership.ts';
import type { Store } from '../store.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Finding, Healer } from './healer.ts';

export interface OperationsHealerDeps {
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly rollouts: Rollouts;
  readonly ownership: Ownership;
  readonly removal: Removal;
  readonly queue: Pick<DeployQueue, 'has'>;
  readonly order: Pick<DeployOrder, 'changed'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

export function createOperationsHealer(deps: OperationsHealerDeps): Healer {
  const { store, rollouts, ownership, removal, queue } = deps;

  async function openRollouts() {
    const work = await ownership.work();
    const open = (await store.unfinishedRollouts()).filter(({ id }) => !rollouts.isEnding(id));
    return open.filter(({ id }) => work?.rollouts.has(id) ?? true);
  }

  /** What follows the commit of a deploy is recorded in it by its rollout. */
  async function openDeploys() {
    const ending = (await store.unfinishedRollouts()).filter(({ id }) => rollouts.isEnding(id)).map(({ app }) => app);
    const work = await ownership.work();
    const open = (await store.unfinishedDeploys()).filter(({ id, app }) => !ending.includes(app) && !queue.has(id));
    return open.filter(({ id }) => work?.deploys.has(id) ?? true);
  }

  const finding = (target: string, app: string, problem: string): Finding => ({ target, app, problem, graceMs: 0 });

  return {
    name: 'operations',
    description: 'finishes or undoes deploys, rollouts and removals that were left unfinished',

    async find() {
      const open = await openRollouts();
      const deploys = await openDeploys();
      const removals = (await store.apps()).filter(({ removing }) => removing);
      return [
        ...open.map(({ id, app, state }) => finding(`rollout:${id}`, app, `A rollout of ${app} stands at ${state}.`)),
        ...deploys.map(({ id, app, state }) => finding(`deploy:${id}`, app, `A deploy of ${app} stands at ${state}.`)),
        ...removals.map(({ name }) => finding(`app:${name}`, name, `The removal of ${name} was not finished.`)),
      ];
    },

    async heal({ target }) {
      const id = target.slice(target.indexOf(':') + 1);
      if (target.startsWith('app:')) {
        await removal.remove(id);
        return 'The app is removed.';
      }
      if (target.startsWith('deploy:')) {
        const deploy = await store.deploy(id);
        if (deploy === null) return 'It is gone.';
        await closeInterrupted(deps, deploy);
        deps.order.changed(deploy.app);
        return 'It is recorded as it ended.';
      }
      const rollout = await store.rollout(id);
      const how = rollout === null ? 'undone' : await rollouts.resume(rollout);
      return how === 'undone' ? 'It was undone.' : 'It is being finished.';
    },
  };
}
