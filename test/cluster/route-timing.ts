/** How long after the cluster has said so the pods of an app have left the tables of all edges, or are in them. */
import { LABELS } from '../../src/backends/provisioner/kubernetes/labels.ts';
import { isUnreachable } from '../../src/backends/provisioner/kubernetes/pod-state.ts';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { type Following, follow } from '../../src/kubernetes/follow.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Pod } from '../../src/kubernetes/objects.ts';
import { addressesIn } from './edge-table.ts';
import { isPodReady } from './node.ts';

const LOOK_MS = 10;

interface Seen {
  readonly at: number;
  /** Since then all edges go by it; null: not yet. */
  routed: number | null;
}

export class RouteTiming {
  readonly #homes: readonly string[];
  readonly #app: string;
  readonly #pods: Following<Pod>;
  readonly #timer: NodeJS.Timeout;
  /** By address. */
  readonly #lost = new Map<string, Seen>();
  readonly #ready = new Map<string, Seen>();
  #isSynced = false;

  constructor(options: { client: KubernetesClient; namespace: string; app: string; homes: readonly string[] }) {
    const { client, namespace, app, homes } = options;
    this.#homes = homes;
    this.#app = app;
    this.#pods = follow({
      ...{ client, kind: KINDS.pods, where: { namespace, labels: `${LABELS.app}=${app}` } },
      onChange: ({ now }) => this.#look(now),
      onError: () => {},
    });
    void this.#pods.synced.then(() => (this.#isSynced = true));
    this.#timer = setInterval(() => this.#compare(), LOOK_MS);
  }

  /** From then on it misses nothing. */
  get begun(): Promise<void> {
    return this.#pods.synced;
  }

  /** As many are ready, and in all tables, as were lost. */
  get isComplete(): boolean {
    const routed = [...this.#ready.values()].filter(({ routed: at }) => at !== null);
    return routed.length >= this.#lost.size;
  }

  /** Milliseconds of each, -1 of what has not come to all edges. */
  get result(): { readonly lostMs: readonly number[]; readonly readyMs: readonly number[] } {
    const of = (all: ReadonlyMap<string, Seen>): number[] =>
      [...all.values()].map(({ at, routed }) => (routed === null ? -1 : Math.round(routed - at)));
    return { lostMs: of(this.#lost), readyMs: of(this.#ready) };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pods.close();
  }

  #look(pod: Pod | null): void {
    const address = pod?.status?.podIP ?? '';
    if (pod === null || address === '' || !this.#isSynced) return;
    const seen = { at: performance.now(), routed: null };
    if (isUnreachable(pod) && !this.#lost.has(address)) this.#lost.set(address, seen);
    if (isPodReady(pod) && !this.#ready.has(address)) this.#ready.set(address, seen);
  }

  #compare(): void {
    const tables = this.#homes.map((home) => addressesIn(home, this.#app));
    const now = performance.now();
    for (const [address, seen] of this.#lost)
      if (seen.routed === null && tables.every((table) => !table.has(address))) seen.routed = now;
    for (const [address, seen] of this.#ready)
      if (seen.routed === null && tables.every((table) => table.has(address))) seen.routed = now;
  }
}
