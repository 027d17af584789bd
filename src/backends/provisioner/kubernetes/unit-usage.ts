/** What units use, as the kubelets of their nodes measure it. */
import type { Logger } from '../../../lib/logger.ts';
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KubernetesError } from '../../../kubernetes/kubernetes-error.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import type { UnitUsage } from '../../../domain/units/provisioner.ts';
import { deadline } from '../../../lib/deadline.ts';

interface RunningPod {
  readonly id: string;
  readonly pod: Pod;
}

/** So many nodes are asked at once: what changes units uses the same connections. */
const AT_ONCE = 4;
/** One look asks no more nodes than it has time for; the others are asked by the next. */
const LOOK_MS = 8_000;
/** A node that says nothing for so long cannot be asked: the server waits for it for half a minute. */
const NODE_MS = 3_000;
/** A node that cannot be asked is left alone for so long, then twice as long, up to the longest. */
const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 600_000;

interface Rest {
  readonly untilMs: number;
  readonly lengthMs: number;
}

export class UsageReader {
  readonly #client: KubernetesClient;
  readonly #logger: Logger;
  readonly #rests = new Map<string, Rest>();
  /** The node that was asked last. */
  #last = '';

  constructor(client: KubernetesClient, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  /** Of a node that cannot be asked nothing is known; that is no reason to know nothing of the others. */
  async read(running: Iterable<RunningPod>): Promise<ReadonlyMap<string, UnitUsage>> {
    const byNode = Map.groupBy(running, ({ pod }) => pod.spec.nodeName ?? '');
    for (const node of this.#rests.keys()) if (!byNode.has(node)) this.#rests.delete(node);
    const nodes = [...byNode.keys()].filter((node) => (this.#rests.get(node)?.untilMs ?? 0) <= Date.now()).sort();
    const from = nodes.findIndex((node) => node > this.#last);
    const turn = from < 0 ? nodes : [...nodes.slice(from), ...nodes.slice(0, from)];
    const usage = new Map<string, UnitUsage>();
    const limited = deadline(LOOK_MS, null);
    const { signal } = limited;
    const lane = async (): Promise<void> => {
      for (let node = turn.shift(); node !== undefined && !signal.aborted; node = turn.shift()) {
        this.#last = node;
        for (const [id, used] of await this.#ask(node, byNode.get(node) ?? [], signal)) usage.set(id, used);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane)).finally(() => limited.clear());
    return usage;
  }

  async #ask(node: string, pods: readonly RunningPod[], signal: AbortSignal): Promise<[string, UnitUsage][]> {
    const limited = deadline(NODE_MS, signal);
    try {
      const measured = await this.#client.podStats(node, limited.signal);
      this.#rests.delete(node);
      return pods.flatMap(({ id, pod }): [string, UnitUsage][] => {
        const found = measured.get(pod.metadata.uid ?? '');
        return found === undefined ? [] : [[id, found]];
      });
    } catch (error) {
      if (signal.aborted) return [];
      if (!limited.signal.aborted && !(error instanceof KubernetesError)) throw error;
      const lengthMs = Math.min(LONGEST_REST_MS, (this.#rests.get(node)?.lengthMs ?? FIRST_REST_MS / 2) * 2);
      this.#rests.set(node, { lengthMs, untilMs: Date.now() + lengthMs * (0.5 + Math.random() / 2) });
      this.#logger.debug({ err: error, node }, 'what units use is not known of a node');
      return [];
    } finally {
      limited.clear();
    }
  }
}
