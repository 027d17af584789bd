import { it } from 'vitest';
import { randomHex } from '../../../lib/ids.ts';
import { SILENT } from '../../../lib/logger.ts';
import { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Provisioner } from '../../../domain/units/provisioner.ts';
import { type ConformanceWorld, provisionerConformance } from '../conformance.ts';
import { MEMORY_COMMANDS } from '../memory/memory-commands.ts';
import { createKubernetesProvisioner } from './kubernetes-provisioner.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';
import { bookOf } from './unit-book.ts';
import { SmallCluster } from './testing/cluster.ts';
import { realWorld } from './testing/real-world.ts';

const IMAGE = `registry.test/shop@sha256:${'0'.repeat(64)}`;
const BY_ADDRESS = 'what listens in another network can only be asked';

const settings = (): KubernetesSettings => ({
  installation: randomHex(8),
  namespace: 'apps',
  imagePullSecret: null,
  user: 1000,
  reachedFrom: ['10.0.0.0/8'],
});

async function smallWorld(): Promise<
  ConformanceWorld & { readonly cluster: SmallCluster; readonly client: KubernetesClient }
> {
  const cluster = new SmallCluster();
  await cluster.server.start();
  const own = settings();
  const client = new KubernetesClient(cluster.server.access());
  const make = (): Provisioner =>
    createKubernetesProvisioner({ name: 'kubernetes', client, settings: own, logger: SILENT });
  let current = make();
  return {
    cluster,
    client,
    provisioner: current,
    artifact: 'shop/1',
    image: IMAGE,
    commands: MEMORY_COMMANDS,
    restart: async () => {
      await current.close();
      current = make();
      return current;
    },
    killBehind: async (id) => {
      const pod = cluster.server.store.of(KINDS.pods).find(({ metadata }) => isPodOf(cluster, metadata.name, id));
      await cluster.kill(pod?.metadata.name ?? '');
    },
    dispose: async () => {
      await current.close();
      client.close();
      await cluster.close();
    },
  };
}

function isPodOf(cluster: SmallCluster, pod: string, id: string): boolean {
  return cluster.server.store.of(KINDS.deployments).some((deployment) => bookOf(deployment).get(id)?.pod === pod);
}

provisionerConformance('kubernetes, at a small cluster', {
  create: smallWorld,
  restarts: 'engine',
  unitName: /^shop\/shop-(?:web|run)-[0-9a-f]{12}-\w+$/,
  supports: { memoryLimit: true, shell: true },
  listeners: BY_ADDRESS,
});

const REAL = process.env['TANCHO_TEST_KUBERNETES'] ?? '';
const REAL_IMAGE = process.env['TANCHO_TEST_KUBERNETES_IMAGE'] ?? '';
if (REAL === '' || REAL_IMAGE === '') {
  it('provisioner kubernetes, at a real cluster', ({ skip }) =>
    skip('TANCHO_TEST_KUBERNETES names no kubeconfig, or TANCHO_TEST_KUBERNETES_IMAGE no image that is there'));
} else {
  provisionerConformance('kubernetes, at a real cluster', {
    create: () => realWorld(REAL, REAL_IMAGE),
    restarts: 'engine',
    unitName: /^shop\/shop-(?:web|run)-[0-9a-f]{12}-[a-z0-9-]+$/,
    supports: { memoryLimit: true, shell: true },
    listeners: BY_ADDRESS,
  });
}
