/**
 * The Deployments of units: one for each process of a rollout, with a book of its units. All changes are made on what the server has at that
 * moment, else made again, so several controls may do it at once.
 */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { type Kind, KINDS } from '../../../kubernetes/kinds.ts';
import { isStatus } from '../../../kubernetes/kubernetes-error.ts';
import type { Deployment, KubernetesObject } from '../../../kubernetes/objects.ts';
import type { Desired } from './desired.ts';
import { ANNOTATIONS } from './labels.ts';
import { type BookedUnit, bookOf, bookText, runningIds, type UnitBook } from './unit-book.ts';

const ATTEMPTS = 20;

export interface GroupName {
  readonly namespace: string;
  readonly name: string;
}

export class Groups {
  readonly #client: KubernetesClient;

  constructor(client: KubernetesClient) {
    this.#client = client;
  }

  /** From then on the unit is to run. What its pods need is there before the first of them, and goes with the Deployment. */
  async join(desired: Desired, id: string): Promise<void> {
    const known = await this.#client.get(KINDS.deployments, desired);
    const there = known ?? (await this.#make(desired, id));
    if (there.spec.replicas === 0) await this.#surround(desired, there);
    const isThere = await this.#change(desired, (book) => joined(book, id));
    // It went meanwhile.
    if (!isThere) await this.join(desired, id);
  }

  /** It is to run no more: there is one pod less from now on. */
  async end(group: GroupName, id: string, end: NonNullable<BookedUnit['end']>): Promise<void> {
    await this.#change(group, (book) => {
      const unit = book.get(id);
      return unit === undefined ? null : new Map([...book, [id, { ...unit, end }]]);
    });
  }

  /** Which unit has which pod is settled here, whoever else would settle it otherwise at this moment. */
  async settle(group: GroupName, settled: (book: UnitBook) => UnitBook | null): Promise<void> {
    await this.#change(group, settled);
  }

  /** What it was is forgotten; the last one takes the Deployment with it. */
  async leave(group: GroupName, id: string): Promise<void> {
    await this.#change(group, (book) => (book.has(id) ? new Map([...book].filter(([other]) => other !== id)) : null));
  }

  /** False: there is no such Deployment. Null as a new book: nothing is to change; one without units is the end of it. */
  async #change(group: GroupName, change: (book: UnitBook) => UnitBook | null): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      const now = await this.#client.get(KINDS.deployments, group);
      if (now === null || now.metadata.deletionTimestamp !== undefined) return false;
      const book = change(bookOf(now));
      if (book === null) return true;
      const { resourceVersion } = now.metadata;
      const replicas = runningIds(book).length;
      if (bookText(book) === now.metadata.annotations?.[ANNOTATIONS.units] && replicas === now.spec.replicas)
        return true;
      const patch = {
        metadata: { resourceVersion, annotations: { [ANNOTATIONS.units]: bookText(book) } },
        spec: { replicas },
      };
      try {
        if (book.size > 0) await this.#client.patch(KINDS.deployments, group, patch);
        else await this.#client.delete(KINDS.deployments, group, { resourceVersion: resourceVersion ?? '' });
        return true;
      } catch (error) {
        if (!isStatus(error, 409, 404) || attempt >= ATTEMPTS) throw error;
      }
    }
  }

  /** Of no pods yet, but with the unit in its book: whatever comes, it is found by that. */
  async #make({ deployment }: Desired, id: string): Promise<Deployment> {
    const annotations = {
      ...deployment.metadata.annotations,
      [ANNOTATIONS.units]: bookText(new Map([[id, { end: null, pod: '' }]])),
    };
    try {
      return await this.#client.create(KINDS.deployments, {
        ...deployment,
        metadata: { ...deployment.metadata, annotations },
      });
    } catch (error) {
      const made = isStatus(error, 409) ? await this.#client.get(KINDS.deployments, deployment.metadata) : null;
      if (made === null) throw error;
      return made;
    }
  }

  async #surround({ secret, policy, budget }: Desired, deployment: Deployment): Promise<void> {
    const owner = ownedBy(KINDS.deployments, deployment);
    await Promise.all([
      this.#client.apply(KINDS.secrets, owner(secret)),
      this.#client.apply(KINDS.networkPolicies, owner(policy)),
      this.#client.apply(KINDS.disruptionBudgets, owner(budget)),
    ]);
  }
}

/** One that has ended and starts again begins without a pod. */
function joined(book: UnitBook, id: string): UnitBook {
  return book.get(id)?.end === null ? book : new Map([...book, [id, { end: null, pod: '' }]]);
}

/** What goes when its owner goes. */
export function ownedBy(
  { apiVersion, kind }: Kind<KubernetesObject>,
  { metadata: { name, uid = '' } }: KubernetesObject,
): <T extends KubernetesObject>(object: T) => T {
  const ownerReferences = [{ apiVersion, kind, name, uid }];
  return (object) => ({ ...object, metadata: { ...object.metadata, ownerReferences } });
}
