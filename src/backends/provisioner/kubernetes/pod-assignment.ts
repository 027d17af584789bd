/** Gives pods that no unit has to units that have no pod. It is settled in the book of their Deployment, whoever else looks after it. */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import { isStatus } from '../../../kubernetes/kubernetes-error.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Groups } from './groups.ts';
import { LABELS } from './labels.ts';
import type { NamespaceView } from './namespace-view.ts';
import { isOver } from './pod-state.ts';
import { runningIds, bookOf, type UnitBook } from './unit-book.ts';

const MISSING_MS = 1_000;

interface PodAssignmentOptions {
  readonly client: KubernetesClient;
  readonly groups: Groups;
  readonly logger: Logger;
  /** Whether that pod of the unit was seen to go. */
  readonly isGone: (unit: string, pod: string) => boolean;
}

export class PodAssignment {
  readonly #options: PodAssignmentOptions;
  /** Pods of units that are not to be seen, and since when: they may be new, or gone. */
  readonly #missing = new Map<string, number>();
  /** Deployments whose pods are being given to units; true: to be looked at once more. */
  readonly #settling = new Map<string, boolean>();
  #isClosed = false;

  constructor(options: PodAssignmentOptions) {
    this.#options = options;
  }

  /** Asked for while it is done, it is done once more. While not all is known yet it does nothing: most pods are not missing then, but yet to come. */
  assign(view: NamespaceView, name: string): void {
    if (!view.isSynced) return;
    const key = `${view.namespace}/${name}`;
    if (this.#isClosed || this.#settling.has(key)) {
      this.#settling.set(key, true);
      return;
    }
    const group = view.deployment(name);
    if (group === null || this.#paired(view, name, bookOf(group)) === null) return;
    this.#settling.set(key, false);
    void this.#settle(view, name).finally(() => {
      const isToRepeat = this.#settling.get(key) === true;
      this.#settling.delete(key);
      if (isToRepeat) this.assign(view, name);
    });
  }

  seen(pod: string): void {
    this.#missing.delete(pod);
  }

  close(): void {
    this.#isClosed = true;
  }

  async #settle(view: NamespaceView, name: string): Promise<void> {
    const { namespace } = view;
    const { client, groups, logger } = this.#options;
    try {
      let pairs = new Map<string, string>();
      await groups.settle({ namespace, name }, (book) => {
        pairs = this.#paired(view, name, book) ?? new Map<string, string>();
        if (pairs.size === 0) return null;
        return new Map([...book].map(([id, unit]) => [id, { ...unit, pod: pairs.get(id) ?? unit.pod }]));
      });
      // For people who look for it there.
      const label = ([id, pod]: [string, string]): Promise<unknown> =>
        client.patch(KINDS.pods, { name: pod, namespace }, { metadata: { labels: { [LABELS.unit]: id } } });
      await Promise.all([...pairs].map(label));
    } catch (error) {
      if (isStatus(error, 404)) return;
      logger.warn({ err: error, namespace, name }, 'pods could not be given to units');
      // Nothing else may happen that would be a reason to look again.
      this.#assignLater(view, name);
    }
  }

  /** Unit -> pod; null: there is nothing to settle. */
  #paired(view: NamespaceView, name: string, book: UnitBook): Map<string, string> | null {
    const wanting = runningIds(book).filter((id) => this.#isWithoutPod(view, name, id, book.get(id)?.pod ?? ''));
    if (wanting.length === 0) return null;
    const taken = new Set([...book.values()].map(({ pod }) => pod));
    const free = view
      .pods(name)
      .filter((pod) => !isOver(pod) && !taken.has(pod.metadata.name))
      .map(({ metadata }) => metadata.name)
      .sort();
    const pairs = wanting.flatMap((id, at): [string, string][] => {
      const pod = free[at];
      return pod === undefined ? [] : [[id, pod]];
    });
    return pairs.length === 0 ? null : new Map(pairs);
  }

  /** One that was never seen may be newer than what is known, for a moment. */
  #isWithoutPod(view: NamespaceView, group: string, id: string, name: string): boolean {
    if (name === '') return true;
    const pod = view.pod(name);
    if (pod !== null) {
      this.#missing.delete(name);
      return isOver(pod);
    }
    if (this.#options.isGone(id, name)) return true;
    const since = this.#missing.get(name);
    if (since === undefined) {
      this.#missing.set(name, Date.now());
      this.#assignLater(view, group);
      return false;
    }
    return Date.now() - since >= MISSING_MS;
  }

  #assignLater(view: NamespaceView, group: string): void {
    setTimeout(() => this.assign(view, group), MISSING_MS).unref();
  }
}
