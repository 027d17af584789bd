/**
 * Where the apps of scenarios run. Usually the server's own engine; with TANCHO_TEST_ENGINE=kubernetes a cluster that test/cluster/setup.ts has
 * started, in a namespace of its own for each world, so that the same scenarios say that both are the same to users.
 */
import { randomHex } from '../../src/lib/ids.ts';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import { kubeconfigAccess } from '../../src/kubernetes/kubeconfig.ts';

export const ENGINE = process.env['TANCHO_TEST_ENGINE'] === 'kubernetes' ? 'kubernetes' : 'process';
/** Of scenarios that move apps: the pool that is not the server's own. */
export const CLUSTER_POOL = 'cluster';

export interface WorldCluster {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** Settings of a server that has it. */
  readonly env: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

interface ClusterFacts {
  readonly kubeconfig: string;
  readonly base: string;
  /** `host:port`. */
  readonly registry: string;
}

/** As test/cluster/setup.ts says of its cluster. */
function clusterOfRun(): ClusterFacts {
  return {
    kubeconfig: process.env['TANCHO_TEST_KUBERNETES'] ?? '',
    base: process.env['TANCHO_TEST_KUBERNETES_BASE'] ?? '',
    registry: process.env['TANCHO_TEST_KUBERNETES_REGISTRY'] ?? '',
  };
}

export async function openWorldCluster(cluster: ClusterFacts = clusterOfRun()): Promise<WorldCluster> {
  const { kubeconfig, base, registry } = cluster;
  const client = new KubernetesClient(await kubeconfigAccess(kubeconfig, null));
  const namespace = `tancho-world-${randomHex(8)}`;
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await client.create(KINDS.namespaces, { metadata: { name: namespace, labels } });
  return {
    client,
    namespace,
    env: {
      TANCHO_ENGINES: `cluster=kubernetes:${kubeconfig}?namespace=${namespace}&from=0.0.0.0/0`,
      TANCHO_IMAGES_REGISTRY: `${registry}/${namespace}`,
      TANCHO_IMAGES_BASE: `*=${base}`,
    },
    async dispose() {
      await client.delete(KINDS.namespaces, { name: namespace });
      client.close();
    },
  };
}
