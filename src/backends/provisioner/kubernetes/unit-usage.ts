/** What units use, as the kubelets of their nodes measure it. */
import type { Logger } from '../../../lib/logger.ts';
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KubernetesError } from '../../../kubernetes/kubernetes-error.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import type { UnitUsage } from '../../../domain/units/provisioner.ts';

interface RunningPod {
  readonly id: string;
  readonly pod: Pod;
}

/** Of a node that cannot be asked nothing is known; that is no reason to know nothing of the others. */
export async function unitUsage(
  client: KubernetesClient,
  running: readonly RunningPod[],
  logger: Logger,
): Promise<ReadonlyMap<string, UnitUsage>> {
  const byNode = new Map<string, RunningPod[]>();
  for (const one of running) {
    const node = one.pod.spec.nodeName ?? '';
    byNode.set(node, [...(byNode.get(node) ?? []), one]);
  }
  const usage = new Map<string, UnitUsage>();
  const ask = async ([node, pods]: readonly [string, readonly RunningPod[]]): Promise<void> => {
    try {
      const measured = await client.podStats(node);
      for (const { id, pod } of pods) {
        const found = measured.get(pod.metadata.uid ?? '');
        if (found !== undefined) usage.set(id, found);
      }
    } catch (error) {
      if (!(error instanceof KubernetesError)) throw error;
      logger.debug({ err: error, node }, 'what units use is not known of a node');
    }
  };
  await Promise.all([...byNode].map(ask));
  return usage;
}
