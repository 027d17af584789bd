/** What this engine has in one namespace, known at all times. */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { type Following, follow } from '../../../kubernetes/follow.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Deployment, Pod } from '../../../kubernetes/objects.ts';
import { Waiters } from '../../../lib/waiters.ts';
import { LABELS } from './labels.ts';

interface ViewOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** Of all that is ours. */
  readonly selector: string;
  readonly onPod: (change: { readonly now: Pod | null; readonly before: Pod | null }) => void;
  readonly onDeployment: (change: { readonly now: Deployment | null; readonly before: Deployment | null }) => void;
  readonly onError: (error: unknown) => void;
}

export class NamespaceView {
  readonly namespace: string;
  readonly #pods: Following<Pod>;
  readonly #deployments: Following<Deployment>;
  readonly #waiters = new Waiters();

  constructor({ client, namespace, selector, onPod, onDeployment, onError }: ViewOptions) {
    this.namespace = namespace;
    const where = { namespace, labels: `${selector},${LABELS.group}` };
    this.#deployments = follow({
      client,
      kind: KINDS.deployments,
      where,
      onChange: (change) => this.#tell(() => onDeployment(change)),
      onError,
    });
    this.#pods = follow({
      client,
      kind: KINDS.pods,
      where,
      onChange: (change) => this.#tell(() => onPod(change)),
      onError,
    });
  }

  get synced(): Promise<unknown> {
    return Promise.all([this.#deployments.synced, this.#pods.synced]);
  }

  /** Resolves when everything is known, or the cluster was not reached. */
  get tried(): Promise<unknown> {
    return Promise.all([this.#deployments.tried, this.#pods.tried]);
  }

  /** Why what is known may be old; null: it is not. */
  get trouble(): string | null {
    return this.#deployments.trouble ?? this.#pods.trouble;
  }

  deployments(): Deployment[] {
    return [...this.#deployments.objects.values()];
  }

  deployment(name: string): Deployment | null {
    return this.#deployments.objects.get(`${this.namespace}/${name}`) ?? null;
  }

  pods(group: string): Pod[] {
    return [...this.#pods.objects.values()].filter(({ metadata }) => metadata.labels?.[LABELS.group] === group);
  }

  pod(name: string): Pod | null {
    return this.#pods.objects.get(`${this.namespace}/${name}`) ?? null;
  }

  /** Resolves with the next change of anything, and when the signal fires. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#waiters.next(signal);
  }

  wake(): void {
    this.#waiters.wake();
  }

  async close(): Promise<void> {
    await Promise.all([this.#pods.close(), this.#deployments.close()]);
    this.wake();
  }

  #tell(work: () => void): void {
    work();
    this.wake();
  }
}
