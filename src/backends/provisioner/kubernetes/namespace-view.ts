/** What this engine has in one namespace, known at all times. */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { type Following, follow } from '../../../kubernetes/follow.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Deployment, Pod } from '../../../kubernetes/objects.ts';
import { Waiters } from '../../../lib/waiters.ts';
import { keptDeployment, keptPod } from './kept.ts';
import { LABELS } from './labels.ts';

interface ViewOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** Of all that is ours. */
  readonly selector: string;
  readonly onPod: (change: Change<Pod>) => void;
  readonly onDeployment: (change: Change<Deployment>) => void;
  readonly onError: (error: unknown) => void;
  /** See follow(). */
  readonly turn?: () => Promise<void> | undefined;
}

interface Change<T> {
  readonly now: T | null;
  readonly before: T | null;
}

export class NamespaceView {
  readonly namespace: string;
  /** Resolves when all that was there is known. */
  readonly synced: Promise<void>;
  readonly #pods: Following<Pod>;
  readonly #deployments: Following<Deployment>;
  /** Names of pods, by group: there may be thousands, of which each group has a few. */
  readonly #members = new Map<string, Set<string>>();
  readonly #begunMs = performance.now();
  #isSynced = false;
  /** By group. */
  readonly #waiters = new Map<string, Waiters>();

  constructor({ client, namespace, selector, onPod, onDeployment, onError, turn }: ViewOptions) {
    this.namespace = namespace;
    const where = { namespace, labels: `${selector},${LABELS.group}` };
    const given = { client, where, onError, ...(turn !== undefined && { turn }) };
    this.#deployments = follow({
      ...{ ...given, kind: KINDS.deployments, kept: keptDeployment },
      onChange: (change) => {
        onDeployment(change);
        this.#wake((change.now ?? change.before)?.metadata.name ?? '');
      },
    });
    this.#pods = follow({
      ...{ ...given, kind: KINDS.pods, kept: keptPod },
      onChange: (change) => {
        const groups = this.#sort(change);
        onPod(change);
        for (const group of groups) this.#wake(group);
      },
    });
    this.synced = Promise.all([this.#deployments.synced, this.#pods.synced]).then(() => {
      this.#isSynced = true;
    });
  }

  /** Since listing was begun. */
  get ageMs(): number {
    return performance.now() - this.#begunMs;
  }

  get isSynced(): boolean {
    return this.#isSynced;
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
    return [...(this.#members.get(group) ?? [])].flatMap((name) => this.pod(name) ?? []);
  }

  pod(name: string): Pod | null {
    return this.#pods.objects.get(`${this.namespace}/${name}`) ?? null;
  }

  /** Resolves with the next change of a group or of its pods, and when the signal fires. */
  changed(group: string, signal: AbortSignal): Promise<void> {
    const waiters = this.#waiters.get(group) ?? new Waiters();
    this.#waiters.set(group, waiters);
    return waiters.next(signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.#pods.close(), this.#deployments.close()]);
    for (const group of [...this.#waiters.keys()]) this.#wake(group);
  }

  /** Those who are woken wait anew, if they still want to know. */
  #wake(group: string): void {
    const waiters = this.#waiters.get(group);
    this.#waiters.delete(group);
    waiters?.wake();
  }

  /** Answers the groups that it concerns. */
  #sort({ now, before }: Change<Pod>): Set<string> {
    const [left, joined] = [groupOf(before), groupOf(now)];
    if (before !== null && left !== joined) {
      const members = this.#members.get(left);
      members?.delete(before.metadata.name);
      if (members?.size === 0) this.#members.delete(left);
    }
    if (now !== null) {
      const members = this.#members.get(joined) ?? new Set();
      this.#members.set(joined, members.add(now.metadata.name));
    }
    return new Set([left, joined]);
  }
}

function groupOf(pod: Pod | null): string {
  return pod?.metadata.labels?.[LABELS.group] ?? '';
}
