/**
 * For vitest: a cluster for the files of a run, started before the first and removed after the last. TANCHO_TEST_KUBERNETES names one that is
 * there, with TANCHO_TEST_KUBERNETES_BASE, an image with Node and a shell, and TANCHO_TEST_KUBERNETES_REGISTRY, where its nodes pull from.
 */
import { startCluster } from './cluster.ts';
import { buildServers } from './program.ts';

export default async function setup(): Promise<() => Promise<void>> {
  if ((process.env['TANCHO_TEST_KUBERNETES'] ?? '') !== '') return async () => {};
  const built = await buildServers();
  if (typeof built === 'string') throw new Error(built);
  const cluster = await startCluster(built.program);
  process.env['TANCHO_TEST_KUBERNETES'] = cluster.kubeconfig;
  process.env['TANCHO_TEST_KUBERNETES_BASE'] = cluster.base;
  process.env['TANCHO_TEST_KUBERNETES_IMAGE'] = cluster.base;
  process.env['TANCHO_TEST_KUBERNETES_REGISTRY'] = cluster.registry.host;
  process.env['TANCHO_TEST_KUBERNETES_OUTSIDE'] = cluster.outside;
  process.env['TANCHO_TEST_KUBERNETES_PODS'] = cluster.pods.join();
  process.env['TANCHO_TEST_KUBERNETES_SERVER_BASE'] = cluster.serverBase;
  process.env['TANCHO_TEST_KUBERNETES_PAGE'] = cluster.page;
  return () => cluster.close();
}
