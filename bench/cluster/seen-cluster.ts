/** What there is in the cluster as a client sees it that nobody cuts off: by it is judged what the platform knows. */
import { bookOf } from '../../src/backends/provisioner/kubernetes/unit-book.ts';
import type { KubernetesClient } from '../../src/kubernetes/client.ts';
import { type Following, follow } from '../../src/kubernetes/follow.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import type { Deployment, Pod } from '../../src/kubernetes/objects.ts';
import { until } from '../../test/support/until.ts';
import { OURS } from './deployed-apps.ts';

const EVERY_MS = 250;

export interface SeenCluster {
  readonly pods: Following<Pod>;
  readonly deployments: Following<Deployment>;
  /** Of pods that are to stay and have an address. */
  running(): Pod[];
  /** Resolves when so many run, and none that goes is left. */
  untilRunning(count: number, timeoutMs: number): Promise<void>;
  /** Resolves when every unit of every Deployment has a pod that runs. */
  untilSettled(timeoutMs: number): Promise<void>;
  /** By unit. */
  addresses(): Map<string, string>;
  dispose(): Promise<void>;
}

export function seeCluster(client: KubernetesClient): SeenCluster {
  const common = { client, where: OURS, onError: () => undefined };
  const pods = follow({ ...common, kind: KINDS.pods, onChange: () => undefined });
  const deployments = follow({ ...common, kind: KINDS.deployments, onChange: () => undefined });
  const running = (): Pod[] => [...pods.objects.values()].filter(isRunning);
  const addresses = (): Map<string, string> =>
    new Map(
      [...deployments.objects.values()].flatMap((deployment) =>
        [...bookOf(deployment)].flatMap(([id, { end, pod }]): [string, string][] => {
          const found = pods.objects.get(`${OURS.namespace}/${pod}`);
          return end !== null || found === undefined || !isRunning(found) ? [] : [[id, found.status?.podIP ?? '']];
        }),
      ),
    );
  const wanted = (): number => [...deployments.objects.values()].reduce((sum, { spec }) => sum + spec.replicas, 0);
  return {
    ...{ pods, deployments, running, addresses },
    untilRunning: (count, timeoutMs) =>
      until(() => running().length === count && pods.objects.size === count, {
        ...{ what: `${count} pods`, timeoutMs, everyMs: EVERY_MS, detail: () => `${running().length} run` },
      }),
    untilSettled: (timeoutMs) =>
      until(() => addresses().size === wanted() && pods.objects.size === wanted(), {
        ...{ what: 'each unit to have its pod', timeoutMs, everyMs: EVERY_MS },
        detail: () => `${addresses().size} of ${wanted()} have one, ${pods.objects.size} pods`,
      }),
    async dispose() {
      await Promise.all([pods.close(), deployments.close()]);
    },
  };
}

function isRunning({ metadata, status }: Pod): boolean {
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
  return metadata.deletionTimestamp === undefined && isReady && (status.podIP ?? '') !== '';
}
