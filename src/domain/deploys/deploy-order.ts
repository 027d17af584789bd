/**
 * The order of the deploys of one app over all controls that share a store: that in which they were recorded. Within one control it is
 * that of its DeployQueue; of several, each deploy waits for those of the others, too, and takes the place of those that wait there.
 */
import { EventEmitter, once } from 'node:events';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { DeployTurn } from '../controls/control-store.ts';
import type { News } from '../controls/news.ts';
import { Failure } from '../failure.ts';
import type { Say } from '../say.ts';
import type { Store, StoreWriter } from '../store.ts';
import { type DeployQueue, demandPlace, type QueuedDeploy, type Replaces } from './deploy-queue.ts';

interface DeployOrderDeps {
  readonly store: Pick<Store, 'deployTurns'>;
  readonly news: News;
  readonly queue: DeployQueue;
  /** The name of this control among several; null: it is alone. */
  readonly control: string | null;
  readonly replaces: Replaces;
  readonly logger: Logger;
}

interface Entering {
  readonly id: string;
  readonly app: string;
  readonly by: string;
  /** As in DeployRequest. */
  readonly ref: string;
}

export class DeployOrder {
  readonly #deps: DeployOrderDeps;
  /** Rings for an app when what its deploys wait for may be over. */
  readonly #bell = new EventEmitter().setMaxListeners(0);
  #closeLeft: (app: string) => Promise<void> = async () => {};

  constructor(deps: DeployOrderDeps) {
    this.#deps = deps;
    deps.news.on('deploys', (app) => void this.#look(app));
    deps.news.on('turns', (app) => void (app !== null && this.#closeLeftOf(app)));
  }

  /**
   * In the transaction that inserts the deploy. Answers who asked for those on other controls whose place it takes, which hear of it by
   * changed(). Throws `app.busy` when too many of the app wait.
   */
  async enter(tx: StoreWriter, { id, app, by, ref }: Entering): Promise<string[]> {
    const { control, replaces } = this.#deps;
    if (control === null) return [];
    const before = (await tx.deployTurns(app)).filter((turn) => turn.id !== id);
    demandPlace(app, before.length);
    await tx.queueDeploy(id, ref);
    if (ref === '') return [];
    const replaced = before.filter(
      (turn) =>
        turn.control !== control &&
        turn.ref === ref &&
        turn.replacedBy === '' &&
        (turn.state === 'received' || (turn.state === 'building' && replaces === 'building')),
    );
    for (const turn of replaced) await tx.replaceDeploy(turn.id, by);
    return replaced.map((turn) => turn.by);
  }

  /** Resolves when all before it are over, wherever they are; rejects when it is cancelled. */
  async turn(queued: QueuedDeploy, app: string, say: Say): Promise<void> {
    let isAnnounced = false;
    const waits = (): void => {
      if (!isAnnounced) say(`-----> Another deploy of ${app} goes on; waiting for it to end`);
      isAnnounced = true;
      queued.waitsFor = `waiting for another deploy of ${app}`;
    };
    for (const by of queued.replaced) say(`-----> Takes the place of a push by ${by} that had not been deployed yet`);
    if (queued.ahead() > 0) waits();
    await queued.turn();
    while (this.#deps.control !== null) {
      const looked = new AbortController();
      const rung = once(this.#bell, ringFor(app), { signal: AbortSignal.any([looked.signal, queued.signal]) });
      rung.catch(() => undefined);
      try {
        queued.signal.throwIfAborted();
        if (!(await this.#hasOthersBefore(app, queued.id))) return;
        waits();
        // Each control closes what it has left behind.
        this.#deps.news.publish('turns', app);
        await this.#closeLeftOf(app);
        await rung.catch(() => queued.signal.throwIfAborted());
      } finally {
        looked.abort();
      }
    }
  }

  /** In a transaction in which it goes on. Throws Failure `cancelled` when a newer one has taken its place. */
  async demandPlace(tx: StoreWriter, app: string, id: string): Promise<void> {
    if (this.#deps.control === null) return;
    const own = (await tx.deployTurns(app)).find((turn) => turn.id === id);
    if (own !== undefined && own.replacedBy !== '') throw replacedBy(own);
  }

  /** Called for an app whose deploys wait elsewhere: to close those of this control that nobody runs any more. */
  onWaitedFor(close: (app: string) => Promise<void>): void {
    this.#closeLeft = close;
  }

  /** One of the app has been replaced, or is over: those that wait for it look. */
  changed(app: string): void {
    this.#deps.news.publish('deploys', app);
    this.#bell.emit(ringFor(app));
  }

  /** Whether a deploy of the app, other than this one, has begun anywhere. */
  async isOtherAtWork(app: string, id: string): Promise<boolean> {
    const { control, queue, store } = this.#deps;
    if (control === null || queue.isOtherAtWork(app, id)) return queue.isOtherAtWork(app, id);
    return (await store.deployTurns(app)).some((turn) => turn.id !== id && turn.state !== 'received');
  }

  #closeLeftOf(app: string): Promise<void> {
    return bestEffort(this.#deps.logger, 'closing deploys that were left behind', () => this.#closeLeft(app));
  }

  async #hasOthersBefore(app: string, id: string): Promise<boolean> {
    const turns = await this.#deps.store.deployTurns(app);
    return turns.findIndex((turn) => turn.id === id) > 0;
  }

  /** Null: at all apps that have deploys here. */
  async #look(app: string | null): Promise<void> {
    const { store, queue, logger } = this.#deps;
    for (const name of queue.apps()) {
      if (app !== null && app !== name) continue;
      await bestEffort(logger, 'looking at the order of deploys', async () => {
        for (const turn of await store.deployTurns(name))
          if (turn.replacedBy !== '') void queue.cancel(turn.id, replacedBy(turn));
      });
      this.#bell.emit(ringFor(name));
    }
  }
}

/** No app's name alone: one may be `error`, which means something else to an emitter. */
function ringFor(app: string): string {
  return `app ${app}`;
}

function replacedBy(turn: DeployTurn): Failure {
  return new Failure('cancelled', `A newer push by ${turn.replacedBy} has taken its place.`);
}
